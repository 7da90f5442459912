#!/usr/bin/perl
# Contact for programs of the user's: the example is audited as built-in solvers are, and what is wrong with contacts that a program reports breaks the rule
# that it should.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use Program;
use Test::More;

my $incline = 'verschoor2019/incline:resolution=0.5';

# ---- the client in C++: a block that falls onto a slope, and has not met it; it tells of a pair that does not touch
spew(scratch('fall.cpp'), <<'END');
#include "elastobench_client.hpp"
#include <cmath>
struct Fall : elastobench::Solver {
  double asked = 1e-5; // that there is more of
  Fall() {
    name = "fall 1";
    serves = "tetrahedra corotational contact";
  }
  elastobench::Contact over_the_floor(const elastobench::Step &s) {
    elastobench::Contact c;
    double u[3], v[3], n[3];
    std::size_t t = 0;
    for (std::size_t k = 0; k < scene.contact_body.size(); k++) { // the face that looks up most
      const double *a[3];
      for (int i = 0; i < 3; i++) a[i] = &s.obstacle[0] + 3 * (scene.contact_triangle[3 * k + i] - scene.nodes);
      if (scene.contact_body[k] < scene.bodies) continue;
      for (int d = 0; d < 3; d++) { u[d] = a[1][d] - a[0][d]; v[d] = a[2][d] - a[0][d]; }
      for (int d = 0; d < 3; d++) n[d] = u[(d + 1) % 3] * v[(d + 2) % 3] - u[(d + 2) % 3] * v[(d + 1) % 3];
      double size = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
      if (n[2] / size <= c.normal[2]) continue;
      for (int d = 0; d < 3; d++) c.normal[d] = n[d] / size;
      t = k;
    }
    for (int i = 0; i < 3; i++) c.vertex[1 + i] = scene.contact_triangle[3 * t + i];
    c.vertex[0] = scene.contact_triangle[0]; // of the body, whose triangles come first
    c.weight[0] = 1;
    c.weight[1] = c.weight[2] = c.weight[3] = -1. / 3;
    c.distance = asked;
    return c;
  }
  void step(const elastobench::Step &s, elastobench::Done &done) override {
    if (asked == 0)
      throw std::runtime_error("bodies " + std::to_string(scene.bodies) + " obstacles " + scene.obstacles[0] + " friction " +
        std::to_string(scene.friction) + " gap " + std::to_string(scene.bounds["gap"]) + " vertices " + std::to_string(s.obstacle_end.size() / 3));
    for (std::size_t i = 0; i < s.x.size(); i++) {
      done.v[i] += s.dt * s.force[i] / scene.mass[i / 3];
      done.x[i] += s.dt * done.v[i];
    }
    done.contacts.push_back(over_the_floor(s));
    done.reason = "CONVERGED_ITS";
  }
};
struct Greedy : Fall { Greedy() { asked = 1; } };
struct Telling : Fall { Telling() { asked = 0; } };
int main(int count, char **) { return count == 1 ? elastobench::serve<Fall>() : count == 2 ? elastobench::serve<Greedy>() : elastobench::serve<Telling>(); }
END
my $fall = scratch('fall');
is(system("c++ -std=c++17 -Wall -Wextra -Werror -I'" . root() . "/solvers/external/cpp' $fall.cpp -o $fall"), 0, 'a program in C++ is built');
is_code(0, 'and runs, with a contact that pushes nothing', 'run', $incline, '-s', "external:$fall", '--steps', '5', '-o', 'fall.h5');
is((runs_in('fall.h5'))[0]{audit}, 'passed', '  and is sound');
is_code(4, 'one that asks for a distance of a metre', 'run', $incline, '-s', "external:$fall x", '--steps', '5', '-o', 'greedy.h5');
like((runs_in('greedy.h5'))[0]{audit_rules}, qr/contact-record/, '  is not');
is_code(3, 'one that says what it sees', 'run', $incline, '-s', "external:$fall x y", '--steps', '1', '-o', 'telling.h5');
like((runs_in('telling.h5'))[0]{detail}, qr/bodies 1 obstacles stands friction 0\.\d+ gap 0\.000100 vertices \d+/, '  sees bodies, obstacles, friction and bounds');

my $python = python('numpy') or do { done_testing; exit };
my $examples = root() . '/python/examples';
my $barrier = "external:$python $examples/barrier_contact.py";
$ENV{PYTHONDONTWRITEBYTECODE} = 1;
$ENV{PYTHONPATH} = root() . "/python:$examples";

# ---- the example
is_code(0, 'a block on a slope: the example in Python, audited', 'run', $incline, '-s', 'contact-al', '-s', $barrier, '--steps', '40', '-o', 'incline.h5');
my ($theirs, $ours) = sort { $b->{solver} cmp $a->{solver} } runs_in('incline.h5');
is($theirs->{audit}, 'passed', 'it passes the audit');
# Kept to 1e-4 of the forces, by Newton on forces of the end where the other is linear in them.
my ($mine, $built_in) = map { $_->{steps}{gravitational}[-1] } $theirs, $ours;
my $fell = abs($ours->{steps}{gravitational}[0] - $built_in);
ok($fell > 0 && abs($mine - $built_in) < 0.05 * $fell, 'and slides as the built-in solver does') or diag "$mine $built_in $fell";
my $blocks = root() . '/problems/scenes/examples/two-blocks.ini';
is_code(0, 'two blocks, a scene of a file', 'run', $blocks, '-s', $barrier, '--steps', '100', '--frames', 'all', '-o', 'blocks.h5');
SKIP: {
  my $h5py = python('numpy', 'h5py') or skip 'needs python3-h5py', 2;
  spew(scratch('between.py'), <<'END');
import sys, h5py
run, = h5py.File(sys.argv[1])["runs"].values()
contacts, nodes = run["frames/contacts"], run["frames/positions"].shape[1]
vertices, force = contacts["vertices"][:], contacts["force"][:, 0]
between = (vertices < nodes).all(1)
print(int(sum(force[between] > 0)), int(sum(force[~between] > 0)))
END
  my ($between, $floor) = split ' ', qx($h5py '@{[scratch('between.py')]}' '@{[scratch('blocks.h5')]}');
  ok($between > 0, 'bodies push each other') or diag $between;
  ok($floor > 0, 'and the floor pushes them') or diag $floor;
}
my @wedge = 'verschoor2019/wedge:bodies=2,resolution=0.34,dt=5e-3'; # plates close from 0.5 s on
is_code(0, 'bodies in a wedge', 'run', @wedge, '-s', 'contact-al', '--steps', '151', '--checkpoints', '146..150', '-o', 'wedge.h5');
is_code(0, 'plates that move push two bodies: steps from states of that motion', 'run', @wedge, '-s', $barrier, '--from', 'wedge.h5@147..150', '--steps', '1',
  '-o', 'plates.h5');
is((runs_in('plates.h5'))[0]{audit}, 'passed', '  pass the audit');

# ---- wrong ones: the example, and one thing is wrong with what it reports, or does
spew(scratch('wrong.py'), <<'END');
import sys
import numpy as np
import elastobench as eb
from barrier_contact import BarrierContact

KIND, VERTEX, WEIGHT, NORMAL, DISTANCE, FORCE = 0, slice(1, 5), slice(5, 9), slice(9, 12), 12, slice(13, 16)

class Wrong(BarrierContact):
    name = "wrong 1"

    def step(self, s):
        done = super().step(s)
        c, fault = done.contacts, sys.argv[1]
        n, f = c[:, NORMAL], c[:, FORCE]
        push = np.sum(n * f, 1)[:, None]
        if fault == "silent":  # contacts are there, and nobody hears of them
            done.contacts = c[:0]
        elif fault == "half":
            done.contacts = c[::2]
        elif fault == "doubled":
            f *= 2
        elif fault == "beyond":  # Coulomb's cone
            f += 2 * (f - push * n)
        elif fault == "turned":  # friction across the slip
            f += np.cross(n, f) - (f - push * n)
        elif fault == "sucking":
            f *= -1
        elif fault == "tilted":
            axis = np.cross(n, np.eye(3)[np.argmin(abs(n), 1)])
            n += 0.5 * axis / np.linalg.norm(axis, axis=1)[:, None]
            n /= np.linalg.norm(n, axis=1)[:, None]
        elif fault == "turned-round":
            n *= -1
        elif fault == "long":
            n *= 1.01
        elif fault == "unweighted":
            c[:, WEIGHT] *= 1.01
        elif fault == "greedy":
            c[:, DISTANCE] = 1e-2
        elif fault == "not-finite":
            f[:1] = np.nan
        elif fault == "overlapping":  # half a millimetre too low, with velocities that follow
            down = 5e-4 * np.array([0, 0, -1.0])
            done.x, done.v = done.x + down, done.v + down / s.dt
        elif fault == "blind":  # as if there were nothing to touch
            x = s.x + s.dt * (s.v + s.dt * s.force / self.mass)
            done.x, done.v, done.contacts = x, (x - s.x) / s.dt, c[:0]
            done.norm, done.residuals, done.reason = "", (), "CONVERGED_ITS"
        elif fault == "no-vertex":
            c[:1, VERTEX] = 1e6
        elif fault == "half-vertex":
            c[:1, VERTEX] = 0.5
        elif fault == "no-kind":
            c[:1, KIND] = 7
        elif fault == "many":
            done.contacts = np.zeros((10**5, 16))
        return done

class Stray(eb.Solver):
    name = "stray 1"
    serves = "tetrahedra hyperelastic"
    def step(self, s):
        return eb.Done(s.x, s.v, "CONVERGED_ITS", contacts=np.zeros((1, 16)))

eb.serve(Stray if sys.argv[1] == "stray" else Wrong)
END
my %rules = (none => '', silent => 'momentum', half => 'momentum', doubled => 'momentum', beyond => 'friction', turned => 'friction', sucking => 'friction',
  tilted => 'contact-normal', 'turned-round' => 'contact-gap', long => 'contact-record', unweighted => 'contact-record', greedy => 'contact-record',
  overlapping => 'intersection', blind => 'intersection');
my $wrong = "external:$python " . scratch('wrong.py');
is_code(4, 'programs that are wrong about contact', 'run', $incline, map({ ('-s', "$wrong $_") } sort keys %rules), '--steps', '12', '-o', 'wrong.h5');
my %run = map { $_->{options} =~ / ([\w-]+)$/ ? ($1 => $_) : () } runs_in('wrong.h5');
for my $fault (sort keys %rules) {
  my ($rule, $broken) = ($rules{$fault}, $run{$fault}{audit_rules});
  is($run{$fault}{outcome}, 'completed', "$fault: runs");
  $rule ? like(",$broken,", qr/,$rule,/, "  and breaks $rule") : is($broken, '', '  and breaks none');
}

# ---- reports that are none
my %said = ('no-vertex' => qr/contact 0 of the program has 1e\+06 for a vertex, which is a whole number from 0 to \d+/,
  'half-vertex' => qr/has 0.5 for a vertex/, 'no-kind' => qr/has 7 for its kind \(0: vertex and face, 1: two edges\)/,
  'not-finite' => qr/not finite/, many => qr/reports 100000 contacts; at most \d+ are taken|announces a frame DONE/);
is_code(3, 'programs whose contacts are none', 'run', $incline, map({ ('-s', "$wrong $_") } sort keys %said), '--steps', '12', '-o', 'none.h5');
%run = map { $_->{options} =~ / ([\w-]+)$/ ? ($1 => $_) : () } runs_in('none.h5');
for my $fault (sort keys %said) {
  is($run{$fault}{outcome}, $fault eq 'not-finite' ? 'not-finite' : 'failed', "$fault: fails");
  like($run{$fault}{detail}, $said{$fault}, '  with the cause in words');
}
is_code(3, 'contacts where nothing touches', 'run', 'bench/beam:resolution=0.25', '-s', "$wrong stray", '--steps', '1', '-o', 'stray.h5');
like((runs_in('stray.h5'))[0]{detail}, qr/reports contacts in a scene that has none as constraints/, '  are refused');

# ---- scenes that ask for more
is_code(6, 'a scene of free rigid bodies', 'run', 'verschoor2019/stack:bodies=2', '-s', $barrier, '--steps', '1', '-o', 'stack.h5');
like((runs_in('stack.h5'))[0]{detail}, qr/lacks free rigid bodies/, '  is refused, and that is why');
done_testing;
