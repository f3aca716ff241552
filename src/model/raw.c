#include "model/raw.h"

#include <stdlib.h>

const unsigned xb_raw_sizes[XB_RAW_SIZES] = { 16, 64, 256, 1024, 8192, 16384, 32768 };

const char *
xb_raw_kind_name(enum xb_raw_kind kind)
{
	static const char *const names[] = {
		[XB_RAW_CIPHER] = "cipher",
		[XB_RAW_MAC] = "mac",
		[XB_RAW_ZLIB] = "zlib",
	};

	return names[kind];
}

void
xb_raw_table_free(struct xb_raw_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->rows[i].reason);
	free(table->partial_reason);
	free(table->rows);
	*table = (struct xb_raw_table){ 0 };
}
