#include "harness/results/write_materials.h"

#include "harness/results/quantity.h"

const char *const eb_fibre_names[EB_FIBRE_NAMES] = {"none", "astvk", "fung"};

static const eb_quantity quantities[] = {
    {"young", "Pa", offsetof(eb_material, young), 1},
    {"poisson", "1", offsetof(eb_material, poisson), 1},
    {"density", "kg/m^3", offsetof(eb_material, density), 1},
    {"fibre_stiffness", "Pa", offsetof(eb_material, fibre_stiffness), 1},
    {"fibre_exponent", "1", offsetof(eb_material, fibre_exponent), 1},
    {"activation", "1", offsetof(eb_material, activation), 1},
    {"thickness", "m", offsetof(eb_material, thickness), 1},
    {0}};

static eb_error put_kinds(hid_t group, const eb_scene *scene) {
  const char *kinds[EB_MATERIAL_KINDS];
  int32_t kind[EB_MAX_REGIONS], fibre[EB_MAX_REGIONS];
  size_t count = (size_t)scene->material_count;
  for (int k = 0; k < EB_MATERIAL_KINDS; k++)
    kinds[k] = eb_material_describe((eb_material_kind)k)->name;
  for (size_t r = 0; r < count; r++) {
    kind[r] = (int32_t)scene->materials[r].kind;
    fibre[r] = (int32_t)scene->materials[r].fibre;
  }
  EB_TRY(eb_names_put(group, "kind", kinds, EB_MATERIAL_KINDS, kind, count));
  EB_TRY(eb_names_put(group, "fibre", eb_fibre_names, EB_FIBRE_NAMES, fibre, count));
  return eb_h5_put(group, "rigid", H5T_STD_U8LE, H5T_NATIVE_UINT8, (eb_h5_shape){1, {count}}, "1",
                   scene->rigid);
}

static eb_error put_laws(hid_t group) {
  EB_TRY(eb_h5_put_text(
      group, "moduli",
      "mu = E / (2 (1 + nu)), lambda = E nu / ((1 + nu) (1 - 2 nu)), E young and nu poisson; "
      "problems/elasticity/material.h names each kind's energy and its source"));
  EB_TRY(eb_h5_put_text(
      group, "fibres",
      "with I5 = |F a|^2 along mesh/fibre: astvk fibre_stiffness/2 (I5 - 1)^2; fung activation "
      "fibre_stiffness / (2 fibre_exponent) (exp(fibre_exponent (I5 - 1)^2) - 1)"));
  return eb_h5_put_text(group, "planar",
                        "triangles are slices of a solid that does not stretch along z, thickness "
                        "thick (1 m where it is 0); solids ignore thickness");
}

static eb_error put_all(hid_t group, const eb_scene *scene) {
  EB_TRY(put_kinds(group, scene));
  EB_TRY(eb_quantities_put(group, quantities, scene->materials, sizeof *scene->materials,
                           (size_t)scene->material_count));
  return put_laws(group);
}

eb_error eb_materials_write(hid_t scene_group, const eb_scene *scene) {
  hid_t group;
  EB_TRY(eb_h5_group(scene_group, "materials", &group));
  eb_error error = put_all(group, scene);
  H5Gclose(group);
  return error;
}
