#include "model/offer.h"

#include <stdlib.h>

void
xb_offer_free(struct xb_offer *offer)
{
	free(offer->banner);
	xb_namelist_free(&offer->kex);
	xb_namelist_free(&offer->hostkeys);
	xb_namelist_free(&offer->ciphers_up);
	xb_namelist_free(&offer->ciphers_down);
	xb_namelist_free(&offer->macs_up);
	xb_namelist_free(&offer->macs_down);
	xb_namelist_free(&offer->compression_up);
	xb_namelist_free(&offer->compression_down);
	*offer = (struct xb_offer){ 0 };
}
