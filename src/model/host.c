#include "model/host.h"

#include <stdlib.h>

void
xb_host_free(struct xb_host *host)
{
	free(host->kernel);
	free(host->architecture);
	free(host->cpu_model);
	free(host->virtualisation);
	free(host->governor);
	free(host->cgroup_quota);
	free(host->congestion);
	free(host->tcp_rmem);
	free(host->tcp_wmem);
	free(host->openssl_ia32cap);
	free(host->openssl_armcap);
	*host = (struct xb_host){ 0 };
}
