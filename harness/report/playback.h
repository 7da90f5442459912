/* What the player of a page (reports/html/player.js) shows of a run, as a script that the page
 * loads when it is asked to, since a page that is opened from disk may read no other file.
 *
 * The script is one call, elastobench.add({..}), with these members; "bytes" are base64:
 *
 *   name                  of the script, by which the page asks for it
 *   stored, time, step    frames that the result file has; of those that are here, s and number
 *   samples               true: frames are no motion but states side by side (record.h)
 *   planar, ground, box   whether all lies in a plane z = const; m; lo and hi of the bodies in all
 *                         frames, m
 *   direction             from the viewer, who sees it first as in pictures
 *   palette               colours of regions, as many as there are different ones
 *   precision             of the bodies' positions, m (eb_lattice_precision)
 *   parts                 surfaces, the bodies first: kind (body, obstacle, collider, link),
 *                         vertices, triangles, moving; lo and size of a lattice (channels.h);
 *                         index: bytes of 32-bit vertices, 3 a triangle; positions: bytes of 16-bit
 *                         places, 3 a vertex, of every frame or, where nothing moves, of one
 *   regions, region       their names; bytes: the region behind each triangle of the bodies
 *   strain                most, range; data: bytes, one a triangle and frame, of the element behind
 *                         it: its strain is most (byte / 255)^2, and range what 99 % do not exceed
 *   updated               only of runs that update elements. of: all elements; elements: how many
 *                         were brought up to date since the frame before; data: bytes, one a
 *                         triangle and frame, how often that behind it was, 255: or more
 *   contacts              only of runs that list contacts. offsets: of each frame, and the end; lo
 *                         and size of a lattice; most, N; points: bytes of 16-bit places, 3 each;
 *                         forces: bytes of signed 16-bit shares (of 32767) of most, 3 each: of the
 *                         second feature on the first
 *
 * A new channel is a member here, filled by a function of playback.c, and a mode of the player. */
#ifndef EB_REPORT_PLAYBACK_H
#define EB_REPORT_PLAYBACK_H

#include "harness/report/model.h"

/* Bytes that each of `runs` scripts may take, so that a folder of them can be passed on. */
size_t eb_playback_room(int runs);

/* Writes DIR/NAME.js. As many frames as `room` bytes hold are drawn evenly from those stored, at
 * least a few, at most as many as the player shows in some seconds; a run that blew up ends before
 * its positions are no numbers or far away. */
EB_MUST eb_error eb_playback_write(const eb_report_run *run, size_t room, const char *dir,
                                   const char *name, eb_playback *out);

#endif
