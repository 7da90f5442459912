// Symplectic Euler in equal parts of a step; the elements' forces are elastobench's.
//
//   c++ -O2 -std=c++17 -I. symplectic_euler.cpp -o symplectic_euler
//   elastobench run bench/beam:resolution=0.25 -s newton -s "external:./symplectic_euler" -o r.h5
#include "elastobench_client.hpp"

#include <algorithm>

struct SymplecticEuler : elastobench::Solver {
  static constexpr int parts = 100;

  SymplecticEuler() {
    name = "symplectic-euler.cpp 1.0";
    serves = "tetrahedra hexahedra triangles hyperelastic corotational fibres";
    update = "substeps";
  }

  // Scripted nodes are held where the end of the step wants them, and forces from outside are those
  // of its start: it serves scenes in which neither moves.
  void step(const elastobench::Step &s, elastobench::Done &done) override {
    double h = s.dt / parts;
    for (int part = 0; part < parts; part++) {
      const double *g = gradient(done.x.data());
      for (std::size_t i = 0; i < s.x.size(); i++) {
        done.v[i] = s.fixed[i / 3] ? 0 : done.v[i] + h * (s.force[i] - g[i]) / scene.mass[i / 3];
        done.x[i] = s.fixed[i / 3] ? s.target[i] : done.x[i] + h * done.v[i];
      }
    }
    done.reason = "CONVERGED_ITS";
    done.iterations = parts;
  }
};

int main() { return elastobench::serve<SymplecticEuler>(); }
