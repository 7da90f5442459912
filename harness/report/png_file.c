#include "harness/report/png_file.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problems/base/text.h"

/* libpng reports by longjmp. The picture is encoded into memory, so that the only failure it can
 * have is memory, and files are written by code that keeps errno. */
typedef struct encoder {
  png_structp png;
  png_infop info;
  eb_text bytes;
  eb_error error;
  char message[128];
} encoder;

static void keep_message(png_structp png, png_const_charp message) {
  encoder *self = png_get_error_ptr(png);
  snprintf(self->message, sizeof self->message, "%s", message);
  png_longjmp(png, 1);
}

static void ignore_warning(png_structp png, png_const_charp message) {
  (void)png, (void)message;
}

static void append(png_structp png, png_bytep data, png_size_t count) {
  encoder *self = png_get_io_ptr(png);
  self->error = eb_text_append(&self->bytes, (const char *)data, count);
  if (self->error) png_error(png, "no memory");
}

static void flush_nothing(png_structp png) {
  (void)png;
}

static eb_error encode(encoder *self, int32_t width, int32_t height, const uint8_t *rgb) {
  self->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, self, keep_message, ignore_warning);
  self->info = self->png ? png_create_info_struct(self->png) : NULL;
  if (!self->info) return EB_ERROR(EB_ERR_LIBRARY, "libpng cannot be set up; is memory exhausted?");
  if (setjmp(png_jmpbuf(self->png))) {
    if (self->error) return self->error;
    return EB_ERROR(EB_ERR_LIBRARY, "libpng: %s", self->message);
  }
  png_set_write_fn(self->png, self, append, flush_nothing);
  png_set_IHDR(self->png, self->info, (png_uint_32)width, (png_uint_32)height, 8,
               PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_set_sRGB(self->png, self->info, PNG_sRGB_INTENT_PERCEPTUAL);
  png_write_info(self->png, self->info);
  for (int32_t row = 0; row < height; row++)
    png_write_row(self->png, rgb + (size_t)row * (size_t)width * 3);
  png_write_end(self->png, self->info);
  return EB_OK;
}

static eb_error write_file(const char *path, const eb_text *bytes) {
  FILE *file = fopen(path, "wb");
  if (!file) return EB_ERROR(EB_ERR_IO, "cannot create picture '%s': %s", path, strerror(errno));
  errno = 0;
  size_t written = fwrite(bytes->data, 1, bytes->length, file);
  int why = errno;
  if (fclose(file) == 0 && written == bytes->length) return EB_OK;
  if (!why) why = errno;
  struct stat status;
  if (stat(path, &status) == 0 && S_ISREG(status.st_mode)) unlink(path);
  return EB_ERROR(EB_ERR_IO, "cannot write picture '%s': %s", path, strerror(why));
}

eb_error eb_png_write(const char *path, int32_t width, int32_t height, const uint8_t *rgb) {
  encoder self = {0};
  eb_error error = encode(&self, width, height, rgb);
  png_destroy_write_struct(&self.png, &self.info);
  if (!error) error = write_file(path, &self.bytes);
  eb_text_clear(&self.bytes);
  return error;
}
