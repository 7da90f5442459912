#include "harness/report/gif.h"

#include <gif_lib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"

struct eb_gif {
  GifFileType *file;
  eb_palette *palette;
  int32_t width, height;
  uint8_t *shown, *next, *row; /* width x height numbers of colours, and work space */
  int frames;
};

enum { UNCHANGED = EB_PALETTE_MOST /* the number of no colour: what was there shows */ };

static eb_error failed(int code) {
  const char *words = GifErrorString(code);
  return EB_ERROR(EB_ERR_LIBRARY, "giflib cannot write: %s", words ? words : "no reason given");
}

static eb_error check(const eb_gif *gif, int status) {
  return status == GIF_OK ? EB_OK : failed(gif->file->Error);
}

static int put_bytes(GifFileType *file, const GifByteType *bytes, int count) {
  return (int)fwrite(bytes, 1, (size_t)count, file->UserData);
}

/* ---- the head -------------------------------------------------------------------------------- */

static eb_error put_screen(eb_gif *gif) {
  GifColorType colors[EB_PALETTE_MOST + 1] = {{0, 0, 0}};
  for (int i = 0; i < gif->palette->count; i++) {
    const uint8_t *c = gif->palette->color[i];
    colors[i] = (GifColorType){c[0], c[1], c[2]};
  }
  ColorMapObject *map = GifMakeMapObject(EB_PALETTE_MOST + 1, colors);
  if (!map) return EB_ERROR(EB_ERR_MEMORY, "no memory for a palette");
  EGifSetGifVersion(gif->file, true);
  eb_error error = check(gif, EGifPutScreenDesc(gif->file, gif->width, gif->height, 8, 0, map));
  GifFreeMapObject(map);
  return error;
}

/* Netscape's extension: again, for ever. */
static eb_error put_loop(const eb_gif *gif) {
  static const char name[] = "NETSCAPE2.0";
  static const uint8_t forever[] = {1, 0, 0};
  EB_TRY(check(gif, EGifPutExtensionLeader(gif->file, APPLICATION_EXT_FUNC_CODE)));
  EB_TRY(check(gif, EGifPutExtensionBlock(gif->file, sizeof name - 1, name)));
  EB_TRY(check(gif, EGifPutExtensionBlock(gif->file, sizeof forever, forever)));
  return check(gif, EGifPutExtensionTrailer(gif->file));
}

static eb_error begin(eb_gif *gif, FILE *out) {
  int code = 0;
  size_t pixels = (size_t)gif->width * (size_t)gif->height;
  EB_TRY(EB_NEW(gif->shown, pixels));
  EB_TRY(EB_NEW(gif->next, pixels));
  EB_TRY(EB_NEW(gif->row, gif->width));
  gif->file = EGifOpen(out, put_bytes, &code);
  if (!gif->file) return failed(code);
  EB_TRY(put_screen(gif));
  return put_loop(gif);
}

eb_error eb_gif_open(FILE *out, int32_t width, int32_t height, eb_palette *palette, eb_gif **gif) {
  EB_TRY(EB_NEW(*gif, 1));
  (*gif)->width = width;
  (*gif)->height = height;
  (*gif)->palette = palette;
  eb_error error = begin(*gif, out);
  if (!error) return EB_OK;
  error = eb_gif_close(*gif, error);
  *gif = NULL;
  return error;
}

/* ---- frames ---------------------------------------------------------------------------------- */

typedef struct rectangle {
  int32_t left, top, right, bottom; /* the latter two behind it */
} rectangle;

/* Where the next frame differs from what is shown: one pixel at least, since a frame has some. */
static rectangle find_changes(const eb_gif *gif) {
  rectangle r = {gif->width, gif->height, 0, 0};
  if (gif->frames == 0) return (rectangle){0, 0, gif->width, gif->height};
  for (int32_t y = 0, i = 0; y < gif->height; y++)
    for (int32_t x = 0; x < gif->width; x++, i++) {
      if (gif->next[i] == gif->shown[i]) continue;
      if (x < r.left) r.left = x;
      if (y < r.top) r.top = y;
      if (x >= r.right) r.right = x + 1;
      r.bottom = y + 1;
    }
  return r.right > 0 ? r : (rectangle){0, 0, 1, 1};
}

static eb_error put_control(const eb_gif *gif, int hundredths) {
  GifByteType bytes[4];
  const GraphicsControlBlock control = {
      .DisposalMode = DISPOSE_DO_NOT, .DelayTime = hundredths, .TransparentColor = UNCHANGED};
  size_t size = EGifGCBToExtension(&control, bytes);
  return check(gif, EGifPutExtension(gif->file, GRAPHICS_EXT_FUNC_CODE, (int)size, bytes));
}

static eb_error put_rows(eb_gif *gif, rectangle r) {
  for (int32_t y = r.top; y < r.bottom; y++) {
    const size_t first = (size_t)y * (size_t)gif->width;
    for (int32_t x = r.left; x < r.right; x++) {
      bool same = gif->frames > 0 && gif->next[first + (size_t)x] == gif->shown[first + (size_t)x];
      gif->row[x - r.left] = same ? UNCHANGED : gif->next[first + (size_t)x];
    }
    EB_TRY(check(gif, EGifPutLine(gif->file, gif->row, r.right - r.left)));
  }
  return EB_OK;
}

eb_error eb_gif_add(eb_gif *gif, const uint8_t *rgb, int hundredths) {
  eb_palette_map(gif->palette, rgb, gif->width, gif->height, gif->next);
  rectangle r = find_changes(gif);
  EB_TRY(put_control(gif, hundredths));
  EB_TRY(check(gif, EGifPutImageDesc(gif->file, r.left, r.top, r.right - r.left, r.bottom - r.top,
                                     false, NULL)));
  EB_TRY(put_rows(gif, r));
  uint8_t *before = gif->shown;
  gif->shown = gif->next;
  gif->next = before;
  gif->frames++;
  return EB_OK;
}

eb_error eb_gif_close(eb_gif *gif, eb_error error) {
  int code = 0;
  bool closed = !gif->file || EGifCloseFile(gif->file, &code) == GIF_OK;
  free(gif->shown);
  free(gif->next);
  free(gif->row);
  free(gif);
  return error || closed ? error : failed(code);
}
