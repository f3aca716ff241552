#include "model/sample.h"

#include <math.h>
#include <stddef.h>

static const char *const mark_names[XB_MARK_COUNT] = {
	"slept",
	"stopped",
	"foreign-cpu",
	"repeat",
	"superseded",
};

const char *
xb_mark_name(unsigned bit)
{
	return bit < XB_MARK_COUNT ? mark_names[bit] : NULL;
}

bool
xb_sample_counts(const struct xb_sample *sample)
{
	return sample->status == XB_MEASURED && (sample->marks & XB_MARK_SUPERSEDED) == 0;
}

double
xb_sample_rate(const struct xb_sample *sample)
{
	if (sample->status != XB_MEASURED || !(sample->seconds > 0))
		return NAN;
	return (double)sample->bytes / sample->seconds;
}
