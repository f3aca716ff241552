# fish completion for xferbench

# The algorithms that ssh knows are names that xferbench takes.
function __xferbench_algorithms
    echo all
    ssh -Q $argv[1] 2>/dev/null
end

function __xferbench_algorithm_list
    __fish_complete_list , "__xferbench_algorithms $argv[1]"
end

# Any of these words, by commas.
function __xferbench_words
    __fish_complete_list , "printf '%s\n' $argv"
end

complete -c xferbench -f
complete -c xferbench -n __fish_use_subcommand -a run -d 'The benchmark'
complete -c xferbench -n __fish_use_subcommand -a raw -d 'Primitives only, no network'
complete -c xferbench -n __fish_use_subcommand -a list -d 'Every cipher and MAC'
complete -c xferbench -a '(__fish_print_hostnames)' -d Host

complete -c xferbench -l host -x -a '(__fish_print_hostnames)' -d 'Server to measure'
complete -c xferbench -s p -l port -x -d 'Port of the host'
complete -c xferbench -s l -l user -x -a '(__fish_complete_users)' -d 'Login name'
complete -c xferbench -s i -l identity -r -F -d 'Private key file'
complete -c xferbench -s F -l ssh-config -r -F -d 'Configuration of ssh'
complete -c xferbench -s o -l ssh-option -x -d 'Option of ssh_config'
complete -c xferbench -s J -l jump -x -a '(__fish_print_hostnames)' -d 'Hosts to jump through'
complete -c xferbench -l host-key-check -x -a 'strict accept-new off' -d 'Policy for host keys'
complete -c xferbench -l known-hosts -r -F -d 'File of known host keys'
complete -c xferbench -l server -x -a '(__xferbench_words openssh dropbear asyncssh)' -d 'Private servers'
complete -c xferbench -l sshd -r -F -d 'Program of the private openssh server'
complete -c xferbench -l dropbear-window -x -d 'Receive window of the private dropbear'
complete -c xferbench -l connect-timeout -x -d 'Limit for each login step'
complete -c xferbench -l stall-timeout -x -d 'Limit without any progress'
complete -c xferbench -l client -x -a '(__xferbench_words openssh libssh2 libssh tcp null all)' -d 'Clients to measure'
complete -c xferbench -l method -x -a '(__xferbench_words auto exec scp sftp)' -d 'How bytes travel'
complete -c xferbench -l direction -x -a '(__xferbench_words upload download both)' -d 'Which way they go'
complete -c xferbench -s c -l ciphers -x -a '(__xferbench_algorithm_list cipher)' -d 'Ciphers to measure'
complete -c xferbench -s m -l macs -x -a '(__xferbench_algorithm_list mac)' -d 'MACs to measure'
complete -c xferbench -l compress -x -a '(__xferbench_words none zlib zlib@openssh.com)' -d 'Compression'
complete -c xferbench -l streams -x -d 'Sessions at once'
complete -c xferbench -l payload -r -F -a 'sparse random text:50' -d 'What is sent'
complete -c xferbench -l remote-file -x -d 'File on the host to download'
complete -c xferbench -l handshake -x -d 'Logins alone, so many of each kind'
complete -c xferbench -l kex -x -a '(__xferbench_algorithm_list kex)' -d 'Key exchanges of the logins'
complete -c xferbench -l host-key-algorithms -x -a '(__xferbench_algorithm_list HostKeyAlgorithms)' -d 'Host key algorithms of the logins'
complete -c xferbench -s t -l time -x -d 'Length of a trial'
complete -c xferbench -s s -l size -x -d 'Bytes of a trial'
complete -c xferbench -s r -l rounds -x -d 'Visits to each case'
complete -c xferbench -l max-time -x -d 'Limit of the whole run'
complete -c xferbench -l seed -x -d 'Seed of the random order'
complete -c xferbench -l no-pin -d 'Do not pin the two ends to CPUs'
complete -c xferbench -s u -l units -x -a 'MB MiB Mbit' -d 'Unit of rates'
complete -c xferbench -l export-json -r -F -d 'Write the result as JSON'
complete -c xferbench -s q -l quiet -d 'The table alone, no progress'
complete -c xferbench -s v -l verbose -d 'More about the run'
complete -c xferbench -s h -l help -d 'Show the options'
complete -c xferbench -s V -l version -d 'Show versions and features'
