/* Three rings around the z axis, each grown together with the other two: genus 3. The centres lie
 * 1.12 from the axis, so that the gap in the middle is filled and adds no hole. */
#include "problems/mesh/models/shape.h"

#define RING(x, y) EB_TORUS(x, y, 0, 1, 0.21, 0, 0, 1, .blend = 0.2)

static const eb_part parts[] = {
    RING(1.12, 0),
    RING(-0.56, 0.969948),
    RING(-0.56, -0.969948),
};

const eb_shape eb_shape_three_torus = {EB_SHAPE_PARTS(parts), .scale = 0.11};
