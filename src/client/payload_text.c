#include "client/payload_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/units.h"
#include "client/payload_parts.h"

#define PREFIX "text:"

/* Small against a packet and zlib's window, both 32 KiB. */
#define TURN_BYTES 512u

/* Words besides the common ones, of two to four syllables. */
#define WORD_COUNT 4096u
#define SYLLABLES_MAX 4u
#define WORD_MAX (SYLLABLES_MAX * 5u + 2)

/* How many of all words are common ones. */
#define COMMON_PERCENT 48u

/* A line is ended by the first word beyond this. */
#define LINE_COLUMNS 72u

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

/* The most frequent words of English, the more frequent ones first. */
static const char *const common[] = { "the", "of", "and", "to", "in", "a", "is", "that", "for",
	"it", "as", "was", "with", "be", "by", "on", "not", "he", "his", "but", "at", "are", "this",
	"have", "from", "or", "had", "an", "they", "which", "you", "were", "all", "one", "her",
	"she", "there", "would", "their", "we", "him", "been", "has", "when", "who", "will", "more",
	"no", "if", "out", "so", "up", "said", "what", "its", "about", "than", "into", "them",
	"can", "only", "other", "time", "new" };

static const char *const onsets[] = { "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s",
	"t", "v", "w", "ch", "cr", "pl", "pr", "sh", "st", "str", "th", "tr" };
static const char *const vowels[] = { "a", "e", "e", "i", "o", "u", "ea", "ou" };
static const char *const codas[] = { "", "", "", "l", "n", "n", "r", "s", "t", "d", "ng" };

/* A writer of text; it goes on where it was interrupted, in the middle of a word. */
struct writer {
	struct xb_rng rng;
	char words[WORD_COUNT][WORD_MAX + 1];
	char piece[WORD_MAX + 4]; /* a word with what follows it */
	size_t piece_len, piece_at;
	size_t column;
	uint64_t sentence; /* words that are left in it; 0: the next one begins one */
};

bool
xb_payload_is_text(const char *what)
{
	return strncmp(what, PREFIX, strlen(PREFIX)) == 0;
}

bool
xb_payload_text_percent(const char *what, unsigned *percent, struct xb_err *err)
{
	uint64_t value;

	/* The refusal shows the number with the range that would do. */
	if (!xb_count_parse("--payload " PREFIX "PERCENT", what + strlen(PREFIX), 0, 100, &value,
		err))
		return false;
	*percent = (unsigned)value;
	return true;
}

static const char *
any_of(struct xb_rng *rng, const char *const *parts, size_t count)
{
	return parts[xb_rng_below(rng, count)];
}

/* Appends to a text of *len bytes; there is room. */
static void
append(char *text, size_t *len, const char *part)
{
	size_t more = strlen(part);

	memcpy(text + *len, part, more);
	*len += more;
}

static void
make_words(struct writer *writer)
{
	struct xb_rng *rng = &writer->rng;
	uint64_t syllables;
	size_t i, len;

	for (i = 0; i < WORD_COUNT; i++) {
		len = 0;
		for (syllables = 2 + xb_rng_below(rng, SYLLABLES_MAX - 1); syllables > 0;
		     syllables--) {
			append(writer->words[i], &len, any_of(rng, onsets, ARRAY_LEN(onsets)));
			append(writer->words[i], &len, any_of(rng, vowels, ARRAY_LEN(vowels)));
		}
		append(writer->words[i], &len, any_of(rng, codas, ARRAY_LEN(codas)));
		writer->words[i][len] = '\0';
	}
}

/* Early ones far more often than late ones, as in any language. */
static size_t
early(struct xb_rng *rng, size_t count)
{
	return (size_t)xb_rng_below(rng, 1 + xb_rng_below(rng, count));
}

static void
next_piece(struct writer *writer)
{
	struct xb_rng *rng = &writer->rng;
	bool first = writer->sentence == 0;

	if (first)
		writer->sentence = 5 + xb_rng_below(rng, 16);
	writer->piece_len = writer->piece_at = 0;
	if (xb_rng_below(rng, 100) < COMMON_PERCENT)
		append(writer->piece, &writer->piece_len, common[early(rng, ARRAY_LEN(common))]);
	else
		append(writer->piece, &writer->piece_len, writer->words[early(rng, WORD_COUNT)]);
	if (first)
		writer->piece[0] = (char)toupper((unsigned char)writer->piece[0]);
	writer->sentence--;
	if (writer->sentence == 0)
		append(writer->piece, &writer->piece_len, ".");
	else if (xb_rng_below(rng, 12) == 0)
		append(writer->piece, &writer->piece_len, ",");
	writer->column += writer->piece_len + 1;
	append(writer->piece, &writer->piece_len, writer->column > LINE_COLUMNS ? "\n" : " ");
	if (writer->column > LINE_COLUMNS)
		writer->column = 0;
}

static void
write_text(struct writer *writer, unsigned char *out, size_t len)
{
	size_t take, left;

	for (; len > 0; len -= take, out += take) {
		if (writer->piece_at == writer->piece_len)
			next_piece(writer);
		left = writer->piece_len - writer->piece_at;
		take = left < len ? left : len;
		memcpy(out, writer->piece + writer->piece_at, take);
		writer->piece_at += take;
	}
}

void
xb_payload_text_fill(void *out, size_t len, unsigned percent, uint64_t seed)
{
	struct writer *writer = xb_calloc(1, sizeof(*writer));
	struct xb_rng noise = { .state = ~seed };
	unsigned char *bytes = out;
	size_t at, turn, i;

	writer->rng.state = seed;
	make_words(writer);
	for (at = 0, i = 0; at < len; at += turn, i++) {
		turn = len - at < TURN_BYTES ? len - at : TURN_BYTES;
		/* One turn in 100 / percent reaches the next whole number. */
		if ((i + 1) * percent / 100 > i * percent / 100)
			write_text(writer, bytes + at, turn);
		else
			xb_rng_fill(&noise, bytes + at, turn);
	}
	free(writer);
}
