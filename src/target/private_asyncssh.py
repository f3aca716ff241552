"""The private SSH server of xferbench that still speaks old ciphers: asyncssh, one process a connection.

check
    Sees whether it can work here; prints what it lacks, and why, or nothing.
serve USER PUBLIC_KEY HOME HOST_KEY...
    Serves the connection that is its standard input, and ends with it.

xferbench writes this file into the directory of its run and runs it by "python3 -I". Errors are one line
on stderr each.
"""

import asyncio
import os
import signal
import socket
import sys

# All of these go away together with OpenSSL's legacy provider.
OLD_CIPHERS = ("blowfish-cbc", "cast128-cbc", "arcfour", "arcfour128", "arcfour256")

# The variable by which the cryptography package does without that provider.
WITHOUT_LEGACY = "CRYPTOGRAPHY_OPENSSL_NO_LEGACY"

KEPT_VARIABLES = ("PATH", "LANG", "TZ")
LOGIN_SECONDS = 30

# Read from a channel at once, at most.
FEED_BYTES = 262144


def complain(what):
    """Logs one line."""
    text = str(what) if str(what) else type(what).__name__
    print(" ".join(text.split()), file=sys.stderr, flush=True)


def show_default_for_legacy():
    """Before its release 39 cryptography does not load at all where the legacy provider is missing."""
    try:
        from cryptography.hazmat.bindings import _openssl
    except ImportError:
        return
    real = _openssl.lib

    class Library:
        """The same, but for that it has another provider under that name."""

        def __getattr__(self, name):
            return getattr(real, name)

        def __dir__(self):
            return dir(real)

        @staticmethod
        def OSSL_PROVIDER_load(context, name):
            return real.OSSL_PROVIDER_load(context, b"default" if name == b"legacy" else name)

    _openssl.lib = Library()


def load_asyncssh():
    """Imports it; where cryptography wants the legacy provider and cannot have it, in a new start."""
    if os.environ.get(WITHOUT_LEGACY):
        show_default_for_legacy()
    try:
        import asyncssh.compression
        import asyncssh.encryption
        import asyncssh.kex
        import asyncssh.mac
    except ImportError as error:
        sys.exit("%s has no asyncssh (%s); install python3-asyncssh" % (sys.executable, error))
    except Exception as error:  # a RuntimeError or one of cryptography's own, by its version
        if os.environ.get(WITHOUT_LEGACY):
            sys.exit("asyncssh cannot be loaded: %s" % " ".join(str(error).split()))
        os.environ[WITHOUT_LEGACY] = "1"
        os.execv(sys.executable, [sys.executable, "-I", "-B", "-W", "ignore"] + sys.argv)
    return asyncssh


asyncssh = load_asyncssh()


def encrypts(name):
    """True when a cipher that asyncssh knows works with this OpenSSL."""
    encryption = asyncssh.encryption
    mac = b"hmac-sha2-256"
    try:
        key, iv, _, mac_key, _, etm = encryption.get_encryption_params(name, mac)
        cipher = encryption.get_encryption(name, os.urandom(key), os.urandom(iv), mac,
                                           os.urandom(mac_key), etm)
        cipher.encrypt_packet(0, bytes(4), bytes(60))
    except Exception:  # UnsupportedAlgorithm, as a rule
        return False
    return True


def names(known):
    """What can be asked for by other SSH software: the names of a vendor that is no more are not."""
    return [name.decode() for name in known if not name.endswith(b"@ssh.com")]


def working_ciphers():
    return names(filter(encrypts, asyncssh.encryption.get_encryption_algs()))


def check():
    working = working_ciphers()
    missing = [name for name in OLD_CIPHERS if name not in working]
    if missing and os.environ.get(WITHOUT_LEGACY):
        print("no %s: OpenSSL's legacy provider is missing here (the package "
              "openssl-provider-legacy, where there is one)" % ", ".join(missing))
    elif missing:
        print("no %s: this asyncssh (%s) does not have them any more"
              % (", ".join(missing), asyncssh.__version__))


async def writable(pipe):
    """Waits until a pipe takes something."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_writer(pipe, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_writer(pipe)


async def feed(channel, pipe):
    """
    Writes what a client sends to a command. Not by asyncio's own transport for pipes: in Python 3.11
    that one loses its buffer where the end of the input comes while it tells that it has room again.
    """
    os.set_blocking(pipe, False)
    try:
        while not channel.at_eof():
            data = memoryview(await channel.read(FEED_BYTES))
            while data:
                try:
                    data = data[os.write(pipe, data):]
                except BlockingIOError:
                    await writable(pipe)
    except (BrokenPipeError, asyncssh.Error):
        pass  # the command does not want more, or the client has gone
    finally:
        os.close(pipe)


class Commands:
    """Runs what clients ask for, and what still runs in the end ends with the connection."""

    def __init__(self, user, home):
        self.running = set()
        self.home = home
        self.environment = {name: os.environ[name] for name in KEPT_VARIABLES
                            if name in os.environ}
        self.environment.update(HOME=home, USER=user, LOGNAME=user, SHELL="/bin/sh")

    async def run(self, process):
        """Serves one session."""
        if process.command is None or process.subsystem is not None:
            process.stderr.write(b"this server runs commands, scp and sftp\n")
            process.exit(1)
            return
        child, stdin = await self.start(process)
        feeder = asyncio.ensure_future(feed(process.stdin, stdin))
        status = await child.wait()
        self.running.discard(child)
        feeder.cancel()
        # The channel is closed when all that the command wrote is on its way.
        await process.stdout.drain()
        await process.stderr.drain()
        if status < 0:
            process.exit_with_signal(signal.Signals(-status).name[3:])
        else:
            process.exit(status)

    async def start(self, process):
        """Starts a shell whose output goes to the channel; its input is for feed to write."""
        pipes = [os.pipe() for _ in range(3)]
        (stdin, to_stdin), (from_stdout, stdout), (from_stderr, stderr) = pipes
        try:
            child = await asyncio.create_subprocess_exec(
                "/bin/sh", "-c", process.command, stdin=stdin, stdout=stdout, stderr=stderr,
                cwd=self.home, env=self.environment, start_new_session=True)
        finally:
            for end in (stdin, stdout, stderr):
                os.close(end)
        self.running.add(child)
        await process.redirect(stdout=from_stdout, stderr=from_stderr, send_eof=False)
        return child, to_stdin

    def end(self):
        for child in self.running:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


class Server(asyncssh.SSHServer):
    """Lets one user in with one key, and nobody else."""

    def __init__(self, user, key):
        self.user = user
        self.key = key

    def connection_lost(self, exc):
        # That the client has gone is its own business.
        if exc is not None and not isinstance(exc, (asyncssh.ConnectionLost, OSError)):
            complain(exc)

    def begin_auth(self, username):
        return True

    def public_key_auth_supported(self):
        return True

    def validate_public_key(self, username, key):
        accepted = username == self.user and key == self.key
        if not accepted:
            complain("no login for '%s' with the key %s" % (username, key.get_fingerprint()))
        return accepted


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def take_socket():
    """The connection, which is not left to be the standard input and output of anything else."""
    connection = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    connection.setblocking(False)
    return connection


async def accept(connection, options):
    """Serves a socket that was accepted by somebody else."""
    if hasattr(asyncssh, "run_server"):  # not yet in 2.10
        return await asyncssh.run_server(connection, config=None, **options)
    loop = asyncio.get_running_loop()
    settled = asyncssh.SSHServerConnectionOptions(**options)
    _, served = await loop.connect_accepted_socket(
        lambda: asyncssh.SSHServerConnection(loop, settled), connection)
    return served


async def serve(user, public_key, home, *host_keys):
    commands = Commands(user, home)
    # asyncssh itself opens no file whose name is not UTF-8.
    key = asyncssh.import_public_key(read_file(public_key))
    options = {
        "server_factory": lambda: Server(user, key),
        "server_host_keys": [asyncssh.import_private_key(read_file(path)) for path in host_keys],
        "encryption_algs": working_ciphers(),
        "mac_algs": names(asyncssh.mac.get_mac_algs()),
        "kex_algs": names(asyncssh.kex.get_kex_algs()),
        "compression_algs": names(asyncssh.compression.get_compression_algs()),
        "gss_host": None,
        "login_timeout": LOGIN_SECONDS,
        "allow_pty": False,
        "agent_forwarding": False,
        "x11_forwarding": False,
        "encoding": None,
        "process_factory": commands.run,
        "sftp_factory": True,
        "allow_scp": True,
    }
    # What ends a connection comes to connection_lost; asyncio itself has nothing to add.
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
    os.chdir(home)
    connection = take_socket()
    try:
        served = await accept(connection, options)
        await served.wait_closed()
    except (asyncssh.Error, OSError):
        pass  # told by connection_lost already
    commands.end()


def main():
    if sys.argv[1] == "check":
        check()
        return
    try:
        asyncio.run(serve(*sys.argv[2:]))
    except Exception as error:
        complain("%s: %s" % (type(error).__name__, error))
    # The time that Python takes to put itself away is no part of what is measured.
    os._exit(0)


main()
