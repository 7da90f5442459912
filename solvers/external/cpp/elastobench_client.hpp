// A solver of yours in C++, run by elastobench -s "external:./my_solver". C++17, nothing else.
//
// Derive from elastobench::Solver, give it a name and what it serves, write step(), and call serve:
//
//   #include "elastobench_client.hpp"
//   struct Drift : elastobench::Solver {
//     Drift() { name = "drift 1.0"; serves = "tetrahedra hyperelastic"; }
//     void step(const elastobench::Step &s, elastobench::Done &done) override {
//       for (std::size_t i = 0; i < s.x.size(); i++) done.x[i] = s.x[i] + s.dt * s.v[i];
//       done.v.assign(s.v.begin(), s.v.end());
//       done.reason = "CONVERGED_ITS";
//       done.iterations = 1;
//     }
//   };
//   int main() { return elastobench::serve<Drift>(); }
//
// Positions and velocities are nodes x 3 numbers, row-major, in SI units. README.md beside this
// folder has the protocol.
#ifndef ELASTOBENCH_CLIENT_HPP
#define ELASTOBENCH_CLIENT_HPP

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace elastobench {

enum { protocol = 1, socket_descriptor = 3, scene_descriptor = 4 };

// Numbers that belong to somebody else.
template <class T> struct View {
  const T *data = nullptr;
  std::size_t count = 0;
  std::size_t size() const { return count; }
  const T &operator[](std::size_t i) const { return data[i]; }
  const T *begin() const { return data; }
  const T *end() const { return data + count; }
};

struct Material {
  std::string kind;
  std::map<std::string, double> number;     // young, poisson, density, thickness, ...
  std::map<std::string, std::string> word;  // fibre, integration
};

// A contact as README.md has it: the frame DONE takes these 16 numbers.
struct Contact {
  int kind = 0;                             // 0: a vertex and a face; 1: two edges
  int vertex[4] = {0, 0, 0, 0};             // the one and the corners, or the ends of both
  double weight[4] = {0, 0, 0, 0};          // of the first feature they sum to 1, of the second to -1
  double normal[3] = {0, 0, 0};             // of length 1, from the second to the first
  double distance = 0;                      // that is asked for along it at the end of the step, m
  double force[3] = {0, 0, 0};              // of the second on the first, N
};

// Coulomb's mu of two that have these names.
struct FrictionPair {
  int a = 0, b = 0;
  double mu = 0;
};

// What is solved. Arrays that the scene lacks are empty.
struct Scene {
  std::string name, element, needs;
  double dt = 0, gravity[3] = {0, 0, 0};
  std::map<std::string, std::string> parameters;
  std::vector<Material> materials;  // one a region
  int nodes = 0, elements_count = 0, nodes_of_element = 0;
  View<double> rest, x, v, mass, fibre, target;  // nodes x 3, ..., elements x 3
  View<std::int32_t> elements, region, surface, spring_node, pattern_start, pattern_column;
  View<std::uint8_t> fixed;

  // Contact as constraints. Vertices are the nodes, and behind them those of the obstacles.
  int bodies = 0;
  std::vector<std::string> obstacles;    // "stands" or "moves", one an obstacle
  double friction = 0;                   // Coulomb's mu of what no pair of names is of
  std::vector<FrictionPair> friction_pairs;
  View<std::int32_t> friction_names;     // a vertex: bit k where it has name k
  std::map<std::string, double> bounds;  // what the audit allows: gap, near, distance, ...
  View<std::int32_t> contact_triangle;   // of vertices, outward
  View<std::int32_t> contact_body;       // below bodies, or bodies + the number of an obstacle
  View<double> obstacle;                 // its vertices at t = 0

  std::vector<char> bytes;  // the file

  // Coulomb's mu of a contact. A feature has the names that all its vertices have; the last pair
  // that fits counts.
  double friction_of(const Contact &contact) const {
    double mu = friction;
    if (friction_pairs.empty()) return mu;
    std::int32_t names[2] = {-1, -1};
    for (int i = 0; i < 4; i++)
      names[i > contact.kind] &= friction_names[static_cast<std::size_t>(contact.vertex[i])];
    for (const FrictionPair &pair : friction_pairs)
      if ((names[0] >> pair.a & names[1] >> pair.b & 1) || (names[0] >> pair.b & names[1] >> pair.a & 1)) mu = pair.mu;
    return mu;
  }

  void read(int file) {
    char buffer[1 << 16];
    ssize_t got;
    for (off_t at = 0; (got = pread(file, buffer, sizeof buffer, at)) > 0; at += got)
      bytes.insert(bytes.end(), buffer, buffer + got);
    std::size_t at = 0;
    for (std::string line; at < bytes.size() && line != "end"; at += line.size() + 1) {
      const char *begin = bytes.data() + at;
      const void *end = std::memchr(begin, '\n', bytes.size() - at);
      if (!end) throw std::runtime_error("the scene has no end");
      line.assign(begin, static_cast<const char *>(end));
      read_line(line);
    }
    nodes = static_cast<int>(mass.size());
    elements_count = static_cast<int>(region.size());
    nodes_of_element = elements_count ? static_cast<int>(elements.size()) / elements_count : 0;
  }

private:
  template <class T> void take(View<T> &view, std::size_t count, std::size_t offset) {
    if (offset + count * sizeof(T) > bytes.size()) throw std::runtime_error("the scene is cut off");
    view.data = reinterpret_cast<const T *>(bytes.data() + offset);
    view.count = count;
  }

  void read_line(const std::string &line) {
    std::istringstream words(line);
    std::string key, word;
    words >> key;
    if (key == "name") words >> name;
    if (key == "element") words >> element;
    if (key == "dt") words >> dt;
    if (key == "gravity") words >> gravity[0] >> gravity[1] >> gravity[2];
    if (key == "needs") std::getline(words, needs);
    if (key == "bodies") words >> bodies;
    while (key == "obstacles" && words >> word) obstacles.push_back(word);
    if (key == "friction") words >> friction;
    if (key == "friction_pair") read_pair(words);
    while (key == "bounds" && words >> word) words >> bounds[word];
    if (key == "parameter" && words >> word) words >> parameters[word];
    if (key == "material") read_material(words);
    if (key == "array") read_array(words);
  }

  void read_pair(std::istringstream &words) {
    FrictionPair pair;
    words >> pair.a >> pair.b >> pair.mu;
    friction_pairs.push_back(pair);
  }

  void read_material(std::istringstream &words) {
    Material m;
    std::string name, value;
    words >> name >> m.kind;  // the region comes first
    while (words >> name >> value)
      if (name == "fibre" || name == "integration")
        m.word[name] = value;
      else
        m.number[name] = std::stod(value);
    materials.push_back(m);
  }

  void read_array(std::istringstream &words) {
    std::string what, type;
    std::size_t rows, columns, offset;
    words >> what >> type >> rows >> columns >> offset;
    std::size_t count = rows * columns;
    const std::pair<const char *, View<double> *> reals[] = {{"rest", &rest},   {"x", &x},
                                                             {"v", &v},         {"mass", &mass},
                                                             {"fibre", &fibre}, {"target", &target},
                                                             {"obstacle", &obstacle}};
    const std::pair<const char *, View<std::int32_t> *> wholes[] = {
        {"elements", &elements},       {"region", &region},
        {"surface", &surface},         {"spring_node", &spring_node},
        {"pattern_start", &pattern_start}, {"pattern_column", &pattern_column},
        {"contact_triangle", &contact_triangle}, {"contact_body", &contact_body},
        {"friction_names", &friction_names}};
    for (auto &entry : reals)
      if (what == entry.first) take(*entry.second, count, offset);
    for (auto &entry : wholes)
      if (what == entry.first) take(*entry.second, count, offset);
    if (what == "fixed") take(fixed, count, offset);
  }
};

// The inputs of a step; they hold until it returns.
struct Step {
  long long number = 0;
  double time = 0, dt = 0;
  std::vector<double> activation;  // of fibres, one a region
  View<double> x, v;               // at its start, nodes x 3
  View<double> force;              // f_ext there, N
  View<double> target;             // where held nodes are at its end
  View<std::uint8_t> fixed;        // which are held there
  View<double> place, stiffness;   // of the springs, at its end
  View<double> obstacle, obstacle_end;  // the vertices of the obstacles, at both
};

// What a step gives back: x and v have the size of the step's, and hold those to begin with.
struct Done {
  std::vector<double> x, v;
  std::string reason;  // a name of eb_reason without EB_: "CONVERGED_RTOL"
  long long iterations = 0;
  std::string norm;                                    // of the residuals, with its unit
  std::vector<std::pair<double, double>> residuals;    // value, seconds since the step began
  std::map<std::string, double> phases, counters;      // names of solvers/solver.h
  std::string linearization;                           // "MASS STIFFNESS exact|projected|rotated"
  std::vector<Contact> contacts;
};

namespace detail {

inline void send_all(const void *data, std::size_t bytes) {
  for (const char *at = static_cast<const char *>(data); bytes > 0;) {
    ssize_t sent = ::send(socket_descriptor, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) throw std::runtime_error("elastobench is gone");
    at += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
}

inline bool read_all(void *data, std::size_t bytes) {
  for (char *at = static_cast<char *>(data); bytes > 0;) {
    ssize_t got = ::recv(socket_descriptor, at, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

struct Head {
  char kind[4];
  std::uint32_t text;
  std::uint64_t body;
};

inline void send_head(const char *kind, const std::string &text, std::size_t body) {
  Head head;
  std::memcpy(head.kind, kind, 4);
  head.text = static_cast<std::uint32_t>(text.size());
  head.body = body;
  std::string both(reinterpret_cast<const char *>(&head), sizeof head);
  both += text;
  send_all(both.data(), both.size());
}

struct Frame {
  std::string kind, text;
  std::vector<double> body;  // as many numbers as its bytes need
  bool receive() {
    Head head;
    if (!read_all(&head, sizeof head)) return false;
    kind.assign(head.kind, 4);
    text.resize(head.text);
    body.resize((head.body + 7) / 8);
    return read_all(&text[0], head.text) && read_all(body.data(), head.body);
  }
};

}  // namespace detail

class Solver {
public:
  std::string name = "unnamed";
  std::string serves = "tetrahedra hyperelastic";  // what scenes may ask for
  std::string update = "end-velocity";             // how positions follow from velocities
  std::string equation = "implicit Euler";         // what a step solves
  bool hessian = false;                            // whether it asks for Hessians
  Scene scene;
  int threads = 1;
  unsigned long long seed = 0;

  virtual ~Solver() = default;
  virtual void setup() {}  // timed as set-up
  virtual void step(const Step &step, Done &done) = 0;

protected:
  // Elastic energy of the elements at x (J) and its gradient (N), which elastobench computes. They
  // hold until the next call.
  double energy(const double *x) { return evaluate(x, "energy\n")[0]; }
  const double *gradient(const double *x) { return evaluate(x, "gradient\n"); }
  // The gradient, and behind it mass_scale M + hessian_scale d2W/dx2 on scene.pattern_*, 9 numbers
  // a block.
  const double *gradient_hessian(const double *x, double mass_scale, double hessian_scale,
                                 bool projected) {
    std::ostringstream text;
    text.precision(17);
    text << "gradient\nhessian " << mass_scale << ' ' << hessian_scale
         << (projected ? " projected\n" : "\n");
    return evaluate(x, text.str());
  }

private:
  detail::Frame values;
  const double *evaluate(const double *x, const std::string &text) {
    std::size_t bytes = 24 * static_cast<std::size_t>(scene.nodes);
    detail::send_head("EVAL", text, bytes);
    detail::send_all(x, bytes);
    if (!values.receive() || values.kind != "VALS") throw std::runtime_error("elastobench is gone");
    return values.body.data();
  }
};

namespace detail {

inline void read_step(const Frame &frame, const Scene &scene, Step &step) {
  std::istringstream lines(frame.text);
  std::string line, key;
  step.activation.clear();
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    words >> key;
    if (key == "step") words >> step.number;
    if (key == "time") words >> step.time;
    if (key == "dt") words >> step.dt;
    for (double value; key == "activation" && words >> value;) step.activation.push_back(value);
  }
  std::size_t n = 3 * static_cast<std::size_t>(scene.nodes), springs = scene.spring_node.size();
  const double *at = frame.body.data();
  for (View<double> *view : {&step.x, &step.v, &step.force, &step.target}) {
    *view = View<double>{at, n};
    at += n;
  }
  step.place = View<double>{at, 3 * springs};
  step.stiffness = View<double>{at + 3 * springs, springs};
  at += 4 * springs;
  for (View<double> *view : {&step.obstacle, &step.obstacle_end}) {
    *view = View<double>{at, scene.obstacle.size()};
    at += view->size();
  }
  step.fixed = View<std::uint8_t>{reinterpret_cast<const std::uint8_t *>(at), n / 3};
}

inline void send_done(const Solver &solver, const Done &done, double seconds) {
  std::ostringstream text;
  text.precision(9);
  text << "reason " << done.reason << "\niterations " << done.iterations << "\nseconds " << seconds
       << "\nequation " << solver.equation << "\nresiduals " << done.residuals.size()
       << "\ncontacts " << done.contacts.size() << '\n';
  if (!done.norm.empty()) text << "norm " << done.norm << '\n';
  if (!done.linearization.empty()) text << "linearization " << done.linearization << '\n';
  for (auto &phase : done.phases) text << "phase " << phase.first << ' ' << phase.second << '\n';
  for (auto &count : done.counters) text << "counter " << count.first << ' ' << count.second << '\n';
  std::vector<double> residuals;
  for (auto &r : done.residuals) residuals.push_back(r.first);
  for (auto &r : done.residuals) residuals.push_back(r.second);
  std::vector<double> contacts;
  for (auto &c : done.contacts) {
    contacts.push_back(c.kind);
    contacts.insert(contacts.end(), c.vertex, c.vertex + 4);
    contacts.insert(contacts.end(), c.weight, c.weight + 4);
    contacts.insert(contacts.end(), c.normal, c.normal + 3);
    contacts.push_back(c.distance);
    contacts.insert(contacts.end(), c.force, c.force + 3);
  }
  send_head("DONE", text.str(),
            8 * (done.x.size() + done.v.size() + residuals.size() + contacts.size()));
  send_all(done.x.data(), 8 * done.x.size());
  send_all(done.v.data(), 8 * done.v.size());
  send_all(residuals.data(), 8 * residuals.size());
  send_all(contacts.data(), 8 * contacts.size());
}

inline void introduce(Solver &solver) {
  Frame frame;
  std::ostringstream hello;
  hello << "protocol " << int(protocol) << "\nname " << solver.name << "\nserves " << solver.serves
        << "\nupdate " << solver.update << "\nhessian " << (solver.hessian ? "yes" : "no") << '\n';
  send_head("HELO", hello.str(), 0);
  if (!frame.receive()) throw std::runtime_error("elastobench is gone");
  std::istringstream words(frame.text);
  for (std::string key, value; words >> key >> value;) {
    if (key == "threads") solver.threads = std::stoi(value);
    if (key == "seed") solver.seed = std::stoull(value);
  }
  solver.scene.read(scene_descriptor);
  solver.setup();
  send_head("REDY", "", 0);
}

}  // namespace detail

// Answers elastobench until it has no more steps; the exit status of main.
template <class T> int serve() {
  if (fcntl(socket_descriptor, F_GETFD) < 0) {
    std::fprintf(stderr, "this program is a solver: elastobench run SCENE -s external:PROGRAM\n");
    return 2;
  }
  try {
    T solver;
    detail::introduce(solver);
    detail::Frame frame;
    Step step;
    for (Done done; frame.receive(); done = Done()) {
      auto began = std::chrono::steady_clock::now();
      detail::read_step(frame, solver.scene, step);
      done.x.assign(step.x.begin(), step.x.end());
      done.v.assign(step.v.begin(), step.v.end());
      solver.step(step, done);
      std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
      detail::send_done(solver, done, took.count());
    }
  } catch (const std::exception &error) {
    try {
      detail::send_head("FAIL", error.what(), 0);
    } catch (const std::exception &) { /* nobody is there to hear it */
    }
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace elastobench

#endif
