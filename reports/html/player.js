// A player of recorded runs, with WebGL2 and nothing else.
//
// A page has elements of the class "player", each with a list of runs as JSON. A run's data is a
// script of its own that is loaded when the run is chosen and hands its contents to elastobench.add
// (harness/report/playback.h has their form). All frames of a run go to the graphics card once: the
// places of vertices into one texture, a colour channel into another. To draw a moment takes two
// numbers of frames and a share between them; the vertex shader fetches and interpolates.
'use strict';
window.elastobench = (() => {

  // ---- runs

  const waiting = new Map(), kept = new Map(); // by name: promises' ends; runs
  const bytesOf = text => {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const binary = atob(text), bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
  };

  function decode(run) {
    for (const part of run.parts) {
      part.topology = part.index;
      part.index = new Uint32Array(bytesOf(part.index).buffer);
      part.positions = new Uint16Array(bytesOf(part.positions).buffer);
    }
    run.region = bytesOf(run.region);
    run.strain.data = bytesOf(run.strain.data);
    if (run.updated) run.updated.data = bytesOf(run.updated.data);
    if (run.contacts) {
      run.contacts.points = new Uint16Array(bytesOf(run.contacts.points).buffer);
      run.contacts.forces = new Int16Array(bytesOf(run.contacts.forces).buffer);
    }
    return run;
  }

  function add(run) {
    kept.set(run.name, decode(run));
    waiting.get(run.name)?.done(kept.get(run.name));
    waiting.delete(run.name);
  }

  function load(entry) {
    if (kept.has(entry.name)) return Promise.resolve(kept.get(entry.name));
    if (!waiting.has(entry.name)) {
      const wait = {};
      wait.promise = new Promise((done, failed) => { wait.done = done; wait.failed = failed; });
      waiting.set(entry.name, wait);
      const script = document.createElement('script');
      script.src = entry.file;
      const fail = () => {
        if (waiting.delete(entry.name)) wait.failed(new Error(entry.file + ' cannot be loaded'));
      };
      script.onerror = fail;
      script.onload = fail; // it is there, and has not handed over what it should
      document.head.append(script);
    }
    return waiting.get(entry.name).promise;
  }

  // The frames around a moment and where it is between them; samples are not interpolated.
  function momentOf(run, time) {
    const times = run.time, last = times.length - 1;
    if (time >= times[last]) return {from: last, to: last, share: 0};
    let low = 0, high = last;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time) low = middle; else high = middle;
    }
    if (last === 0 || time <= times[0]) return {from: 0, to: 0, share: 0};
    const share = run.samples ? 0 : (time - times[low]) / (times[high] - times[low] || 1);
    return {from: low, to: high, share};
  }

  // ---- colours

  const scale = ['#440154', '#472d7b', '#3b528b', '#2c728e', '#21918c', '#28ae80', '#5ec962', '#addc30', '#fde725']; // viridis
  const orange = '#ff851a', red = '#d62728', blue = '#5b8def', plain = '#a9b4c4';
  const rgb = hex => [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16) / 255);
  const MODES = {region: 0, strain: 1, updated: 2, error: 3, contacts: 4};

  // ---- shaders

  const bodyVertex = `#version 300 es
    precision highp float; precision highp int; precision highp usampler2D;
    layout(location = 0) in uint vertex;
    uniform usampler2D places, otherPlaces, channel;
    uniform ivec2 frames, otherFrames;      // around the moment
    uniform float share, otherShare, most;  // between them; of the strain's code
    uniform vec3 lo, size, otherLo, otherSize;
    uniform int vertices, triangles, mode, wide; // wide: texels of a row, as a power of two
    uniform bool compared;
    uniform mat4 camera;
    out vec3 world, corner;
    out float value;
    flat out int region;
    ivec2 texel(int i) { return ivec2(i & ((1 << wide) - 1), i >> wide); }
    vec3 place(usampler2D from, ivec2 pair, float between) {
      vec3 a = vec3(texelFetch(from, texel(pair.x * vertices + int(vertex)), 0).xyz);
      vec3 b = vec3(texelFetch(from, texel(pair.y * vertices + int(vertex)), 0).xyz);
      return mix(a, b, between) / 65535.0;
    }
    float byte(int frame) {
      return float(texelFetch(channel, texel(frame * triangles + gl_VertexID / 3), 0).x);
    }
    float strain(int frame) { float root = byte(frame) / 255.0; return most * root * root; }
    void main() {
      world = lo + size * place(places, frames, share);
      value = 0.0;
      region = 0;
      if (mode == 0) region = int(byte(0));
      if (mode == 1) value = mix(strain(frames.x), strain(frames.y), share);
      if (mode == 2) value = byte(share > 0.0 ? frames.y : frames.x);
      if (mode == 3 && compared)
        value = distance(world, otherLo + otherSize * place(otherPlaces, otherFrames, otherShare));
      int k = gl_VertexID % 3;
      corner = vec3(k == 0, k == 1, k == 2);
      gl_Position = camera * vec4(world, 1.0);
    }`;

  // Lit from the eye and from above, on both sides; the normal is that of the flat triangle.
  const bodyFragment = `#version 300 es
    precision highp float; precision highp int;
    in vec3 world, corner;
    in float value;
    flat in int region;
    uniform int mode;
    uniform float range, opacity, lines;
    uniform vec3 eye, palette[10], stops[9], tint, mark;
    uniform bool twoSided;
    out vec4 color;
    void main() {
      vec3 normal = normalize(cross(dFdx(world), dFdy(world))), view = normalize(eye - world);
      if (dot(normal, view) < 0.0) normal = -normal;
      vec3 base = tint;
      if (mode == 0) base = palette[region % 10];
      if (mode == 2 && value > 0.5) base = mark;
      if (mode == 1 || mode == 3) {
        float at = clamp(value / max(range, 1e-30), 0.0, 1.0) * 8.0;
        int i = min(int(at), 7);
        base = mix(stops[i], stops[i + 1], at - float(i));
      }
      float light = 0.42 + 0.38 * max(0.0, dot(normal, view)) + 0.22 * max(0.0, dot(normal, normalize(vec3(-0.3, -0.5, 0.8))));
      vec3 wide = fwidth(corner), near = smoothstep(vec3(0.0), 1.1 * wide, corner);
      float small = smoothstep(0.12, 0.4, max(wide.x, max(wide.y, wide.z))); // of a few pixels: all would be lines
      float ink = lines * (1.0 - small) * (1.0 - min(near.x, min(near.y, near.z)));
      float cover = twoSided || gl_FrontFacing ? opacity : 0.3 * opacity;
      color = vec4(base * light * (1.0 - 0.45 * ink), cover);
    }`;

  const plainVertex = `#version 300 es
    precision highp float;
    layout(location = 0) in vec3 at;
    uniform mat4 camera;
    uniform float dot;
    out vec3 world;
    void main() { world = at; gl_PointSize = dot; gl_Position = camera * vec4(at, 1.0); }`;
  const plainFragment = `#version 300 es
    precision highp float;
    in vec3 world;
    uniform vec4 ink;
    out vec4 color;
    void main() { color = ink; }`;
  // A grid that fades away from its middle.
  const groundFragment = `#version 300 es
    precision highp float;
    in vec3 world;
    uniform vec4 ink;
    uniform vec3 middle;
    uniform float square, reach;
    out vec4 color;
    void main() {
      vec2 cell = (world.xy - middle.xy) / square, wide = fwidth(cell);
      vec2 off = abs(fract(cell - 0.5) - 0.5) / max(wide, vec2(1e-6));
      float line = 1.0 - min(min(off.x, off.y), 1.0), fade = 1.0 - smoothstep(0.4, 1.0, distance(world.xy, middle.xy) / reach);
      color = vec4(ink.rgb, ink.a * fade * (0.10 + 0.9 * line * min(1.0, 0.7 / max(wide.x, wide.y))));
    }`;

  function program(gl, vertex, fragment) {
    const made = gl.createProgram();
    for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(made, shader);
    }
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS) && !gl.isContextLost())
      throw new Error('a shader does not link: ' + gl.getProgramInfoLog(made));
    const uniforms = {};
    for (let i = 0; i < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); i++) {
      const name = gl.getActiveUniform(made, i).name.replace('[0]', '');
      uniforms[name] = gl.getUniformLocation(made, name);
    }
    return {made, at: uniforms};
  }

  // ---- matrices, column by column

  const minus = (a, b) => a.map((x, i) => x - b[i]);
  const along = (a, s, b) => a.map((x, i) => x + s * b[i]);
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const unit = a => a.map(x => x / (Math.hypot(...a) || 1));

  // ---- the stage: all that touches the graphics card

  class Stage {
    constructor(canvas) {
      this.canvas = canvas;
      this.gl = canvas.getContext('webgl2', {antialias: true, preserveDrawingBuffer: true});
      if (!this.gl) throw new Error('no WebGL2');
      this.prepare();
    }

    prepare() {
      const gl = this.gl;
      this.wide = gl.getParameter(gl.MAX_TEXTURE_SIZE) >= 4096 ? 12 : 11;
      this.body = program(gl, bodyVertex, bodyFragment);
      this.plain = program(gl, plainVertex, plainFragment);
      this.ground = program(gl, plainVertex, groundFragment);
      this.loose = {array: gl.createVertexArray(), buffer: gl.createBuffer()};
      gl.bindVertexArray(this.loose.array);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.loose.buffer);
      gl.enableVertexAttribArray(0);
      gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
      this.nothing = this.texture(new Uint8Array(1), 1);
      this.stock = new Map(); // what is on the card, by run
    }

    // Numbers in rows of 2^wide texels.
    texture(data, components) {
      const gl = this.gl, made = gl.createTexture(), side = 1 << this.wide;
      const [inside, outside, type] = components === 3 ? [gl.RGB16UI, gl.RGB_INTEGER, gl.UNSIGNED_SHORT] : [gl.R8UI, gl.RED_INTEGER, gl.UNSIGNED_BYTE];
      const rows = Math.max(1, Math.ceil(data.length / components / side));
      const whole = Math.floor(data.length / components / side), used = whole * side * components;
      gl.bindTexture(gl.TEXTURE_2D, made);
      gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
      gl.texStorage2D(gl.TEXTURE_2D, 1, inside, side, rows);
      if (whole > 0) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, side, whole, outside, type, data.subarray(0, used));
      const left = (data.length - used) / components;
      if (left > 0) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, whole, left, 1, outside, type, data.subarray(used));
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
      return made;
    }

    part(part) {
      const gl = this.gl, array = gl.createVertexArray(), buffer = gl.createBuffer();
      gl.bindVertexArray(array);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, part.index, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(0);
      gl.vertexAttribIPointer(0, 1, gl.UNSIGNED_INT, 0, 0);
      return {array, buffer, places: this.texture(part.positions, 3)};
    }

    // Puts runs on the card, and takes all others off it.
    keep(runs) {
      const gl = this.gl;
      for (const [run, there] of this.stock) {
        if (runs.includes(run)) continue;
        for (const part of there.parts) {
          gl.deleteTexture(part.places);
          gl.deleteBuffer(part.buffer);
          gl.deleteVertexArray(part.array);
        }
        Object.values(there.channels).forEach(texture => gl.deleteTexture(texture));
        this.stock.delete(run);
      }
      for (const run of runs)
        if (!this.stock.has(run)) this.stock.set(run, {parts: run.parts.map(part => this.part(part)), channels: {}});
    }

    channel(run, mode) {
      const data = {region: run.region, strain: run.strain.data, updated: run.updated?.data}[mode];
      if (!data) return this.nothing;
      const channels = this.stock.get(run).channels;
      return channels[mode] ??= this.texture(data, 1);
    }

    clear(color) {
      const gl = this.gl;
      gl.disable(gl.SCISSOR_TEST);
      gl.clearColor(...color, 1);
      gl.depthMask(true);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    }

    // One of several parts of the canvas, beside each other or, in a narrow one, below; its aspect.
    pane(which, count) {
      const gl = this.gl, {width, height} = this.canvas, stacked = width < height;
      const [w, h] = stacked ? [width, Math.floor(height / count)] : [Math.floor(width / count), height];
      gl.viewport(stacked ? 0 : which * w, stacked ? (count - 1 - which) * h : 0, w, h);
      return w / h;
    }

    bind(unit, texture, uniform) {
      this.gl.activeTexture(this.gl.TEXTURE0 + unit);
      this.gl.bindTexture(this.gl.TEXTURE_2D, texture);
      this.gl.uniform1i(uniform, unit);
    }

    setPair(run, part, moment, names) {
      const gl = this.gl, at = this.body.at, source = run.parts[part];
      const still = !source.moving;
      gl.uniform2i(at[names.frames], still ? 0 : moment.from, still ? 0 : moment.to);
      gl.uniform1f(at[names.share], moment.share);
      gl.uniform3fv(at[names.lo], source.lo);
      gl.uniform3fv(at[names.size], source.size);
    }

    // Surfaces of a run at a moment. `look`: mode, range, opacity, lines, tint, other, camera, eye.
    surface(run, part, moment, look) {
      const gl = this.gl, at = this.body.at, source = run.parts[part], there = this.stock.get(run);
      const mode = part === 0 ? look.mode : 'contacts';
      gl.useProgram(this.body.made);
      gl.uniformMatrix4fv(at.camera, false, look.camera);
      gl.uniform3fv(at.eye, look.eye);
      gl.uniform3fv(at.palette, run.palette.flatMap(rgb));
      gl.uniform3fv(at.stops, scale.flatMap(rgb));
      gl.uniform3fv(at.tint, look.tint);
      gl.uniform3fv(at.mark, rgb(orange));
      gl.uniform1i(at.mode, MODES[mode]);
      gl.uniform1i(at.wide, this.wide);
      gl.uniform1i(at.vertices, source.vertices);
      gl.uniform1i(at.triangles, source.triangles);
      gl.uniform1f(at.most, run.strain.most);
      gl.uniform1f(at.range, look.range);
      gl.uniform1f(at.opacity, look.opacity);
      gl.uniform1f(at.lines, look.lines);
      gl.uniform1i(at.twoSided, source.kind === 'body' || source.kind === 'link' ? 1 : 0);
      const channel = part === 0 ? this.channel(run, mode) : this.nothing; // made before others are bound
      this.bind(0, there.parts[part].places, at.places);
      this.bind(1, channel, at.channel);
      this.setPair(run, part, moment, {frames: 'frames', share: 'share', lo: 'lo', size: 'size'});
      const other = look.other;
      gl.uniform1i(at.compared, other ? 1 : 0);
      this.bind(2, other ? this.stock.get(other.run).parts[0].places : there.parts[part].places, at.otherPlaces);
      if (other) this.setPair(other.run, 0, other.moment, {frames: 'otherFrames', share: 'otherShare', lo: 'otherLo', size: 'otherSize'});
      gl.bindVertexArray(there.parts[part].array);
      gl.drawArrays(gl.TRIANGLES, 0, 3 * source.triangles);
    }

    bodies(run, moment, look) {
      const gl = this.gl;
      gl.enable(gl.DEPTH_TEST);
      gl.depthFunc(gl.LEQUAL);
      gl.enable(gl.BLEND);
      gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
      gl.depthMask(true);
      if (look.opacity < 1) { // its nearest faces alone: first their depth, then their colour
        gl.colorMask(false, false, false, false);
        this.surface(run, 0, moment, look);
        gl.colorMask(true, true, true, true);
      }
      this.surface(run, 0, moment, look);
      run.parts.forEach((part, p) => {
        if (part.kind === 'link') this.surface(run, p, moment, {...look, opacity: 1, lines: 0, tint: rgb('#d9cba8')});
      });
    }

    // After the bodies: one sees them through walls.
    surroundings(run, moment, look) {
      const gl = this.gl;
      gl.depthMask(false);
      run.parts.forEach((part, p) => {
        if (part.kind === 'obstacle' || part.kind === 'collider')
          this.surface(run, p, moment, {...look, opacity: 0.32, lines: 0, tint: rgb('#b9bcc2')});
      });
      gl.depthMask(true);
    }

    points(kind, numbers, ink, size, camera) {
      const gl = this.gl;
      gl.useProgram(this.plain.made);
      gl.uniformMatrix4fv(this.plain.at.camera, false, camera);
      gl.uniform4fv(this.plain.at.ink, ink);
      gl.uniform1f(this.plain.at.dot, size);
      gl.bindVertexArray(this.loose.array);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.loose.buffer);
      gl.bufferData(gl.ARRAY_BUFFER, numbers, gl.STREAM_DRAW);
      gl.drawArrays(kind, 0, numbers.length / 3);
    }

    floor(run, box, ink, camera) {
      const gl = this.gl, size = minus(box.hi, box.lo), wide = Math.hypot(...size) || 1;
      const [x, y] = [0, 1].map(d => (box.lo[d] + box.hi[d]) / 2), reach = 1.6 * wide;
      const z = run.planar ? box.lo[2] - 1e-3 * wide : run.ground - 1e-4 * wide, at = this.ground.at;
      const quad = new Float32Array([[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]].flatMap(s => [x + s[0] * reach, y + s[1] * reach, z]));
      gl.useProgram(this.ground.made);
      gl.uniformMatrix4fv(at.camera, false, camera);
      gl.uniform4fv(at.ink, ink);
      gl.uniform3f(at.middle, x, y, z);
      gl.uniform1f(at.square, wide / 8);
      gl.uniform1f(at.reach, reach);
      gl.bindVertexArray(this.loose.array);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.loose.buffer);
      gl.bufferData(gl.ARRAY_BUFFER, quad, gl.STREAM_DRAW);
      gl.depthMask(false);
      gl.drawArrays(gl.TRIANGLES, 0, 6);
      gl.depthMask(true);
    }
  }

  // ---- the eye: turns about the middle of a box

  class Eye {
    // Looks along `direction` as pictures do; straight down, y is upright.
    fit(box, direction) {
      const back = unit(direction.map(x => -x)), level = Math.hypot(back[0], back[1]);
      this.middle = box.lo.map((x, d) => (x + box.hi[d]) / 2);
      this.radius = Math.hypot(...minus(box.hi, box.lo)) / 2 || 1;
      this.turn = level > 0 ? Math.atan2(back[1], back[0]) : -Math.PI / 2;
      this.rise = Math.min(Math.atan2(back[2], level), Math.PI / 2 - 1e-4);
      this.near = 1;
    }

    // The matrix and the place of the eye for panes of that aspect.
    look(aspect) {
      const focal = 1 / Math.tan(0.26), distance = this.near * this.radius * 0.97 * Math.hypot(1, focal) * Math.max(1, 1 / aspect);
      const back = [Math.cos(this.turn) * Math.cos(this.rise), Math.sin(this.turn) * Math.cos(this.rise), Math.sin(this.rise)];
      const right = unit(cross([0, 0, 1], back)), up = cross(back, right), eye = along(this.middle, distance, back);
      const near = distance / 100, far = distance + 40 * this.radius, depth = (far + near) / (near - far);
      const rows = [right.map(x => x * focal / aspect), up.map(x => x * focal), back.map(x => x * depth), back.map(x => -x)];
      const shift = rows.map(row => -dot(row, eye));
      shift[2] += 2 * far * near / (near - far);
      const camera = new Float32Array(16);
      rows.forEach((row, r) => [...row, shift[r]].forEach((x, c) => { camera[4 * c + r] = x; }));
      return {camera, eye, right, up, back};
    }

    rotate(dx, dy) {
      this.turn -= dx;
      this.rise = Math.max(-1.57, Math.min(1.57, this.rise + dy));
    }

    zoom(factor) { this.near = Math.max(0.02, Math.min(20, this.near * factor)); }

    move(dx, dy) {
      const {right, up} = this.look(1), step = 1.1 * this.near * this.radius;
      this.middle = along(along(this.middle, -dx * step, right), dy * step, up);
    }
  }

  // ---- the player

  const make = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };
  const choice = (label, options, value) => {
    const select = make('select', {}, ...options.map(([key, text]) => make('option', {value: key, textContent: text})));
    select.value = value;
    return {select, line: make('label', {}, label + ' ', select)};
  };
  const short = (x, unit = '') => (x === 0 ? '0' : Math.abs(x) >= 0.01 && Math.abs(x) < 1e4 ? String(+x.toPrecision(3)) : x.toExponential(1)) + unit;
  const speeds = [0.01, 0.03, 0.1, 0.3, 1, 3, 10];
  const players = [];

  class Player {
    constructor(element) {
      this.element = element;
      this.entries = JSON.parse(element.querySelector('script[type="application/json"]').textContent);
      this.poster = [...element.children].filter(child => child.tagName !== 'SCRIPT');
      this.cover();
    }

    // The picture and a button, until somebody wants to see more.
    cover() {
      const some = this.entries.length === 1 ? 'the run' : this.entries.length + ' runs';
      const button = make('button', {type: 'button', className: 'open', textContent: 'Play ' + some});
      button.addEventListener('click', () => this.open().then(() => {
        this.control?.play.focus(); // the button that had it is gone
        this.play(true);
      }));
      this.element.replaceChildren(...this.poster, button);
      this.element.classList.remove('playing');
      this.stage = null;
    }

    find(label) { return this.entries.findIndex(entry => entry.name === label || entry.label === label); }

    async open(a = 0, b = -1) {
      if (!this.stage) {
        players.filter(other => other !== this && other.stage).forEach(other => other.close());
        this.build();
      }
      if (this.stage) await this.choose(a, b);
    }

    close() {
      this.play(false);
      this.watch?.disconnect();
      this.stage?.gl.getExtension('WEBGL_lose_context')?.loseContext();
      this.runs = [];
      this.cover();
    }

    build() {
      const canvas = make('canvas', {tabIndex: 0});
      canvas.setAttribute('role', 'img');
      try {
        this.stage = new Stage(canvas);
      } catch (error) {
        this.stage = null;
        this.element.replaceChildren(...this.poster, make('p', {className: 'note', textContent: 'This browser cannot show runs in motion: ' + error.message + '.'}));
        return;
      }
      this.runs = [];
      this.eye = new Eye();
      this.time = 0;
      const runs = this.entries.map((entry, i) => [i, entry.label + (entry.note ? ' (' + entry.note + ')' : '')]);
      this.control = {
        a: choice('Run', runs, 0), b: choice('beside it', [[-1, 'none'], ...runs], -1),
        layout: choice('Layout', [['side', 'side by side'], ['over', 'overlaid']], 'side'),
        mode: choice('Colour', [['region', 'region']], 'region'),
        speed: choice('Speed', speeds.map(s => [s, '\u00d7' + s]), 1),
        lines: make('input', {type: 'checkbox', checked: true}),
        play: make('button', {type: 'button', textContent: 'Play'}),
        scrub: make('input', {type: 'range', min: 0, max: 1000, step: 'any', value: 0}),
        clock: make('output'), reset: make('button', {type: 'button', textContent: 'Reset view'}),
        close: make('button', {type: 'button', textContent: 'Close'}),
        legend: make('div', {className: 'legend'}), status: make('p', {className: 'note status'}),
      };
      const c = this.control;
      c.scrub.setAttribute('aria-label', 'time');
      c.status.setAttribute('role', 'status');
      this.names = make('div', {className: 'names'});
      this.frame = make('div', {className: 'stage'}, canvas, this.names);
      this.element.classList.add('playing'); // the picture stays, for paper
      this.element.replaceChildren(
        ...this.poster, make('div', {className: 'controls'}, c.a.line, c.b.line, c.layout.line, c.mode.line),
        this.frame, c.legend,
        make('div', {className: 'controls'}, c.play, c.scrub, c.clock, c.speed.line, make('label', {}, c.lines, ' mesh'), c.reset, c.close),
        c.status);
      this.listen(canvas);
    }

    listen(canvas) {
      const c = this.control, redraw = () => this.redraw();
      for (const which of [c.a, c.b]) which.select.addEventListener('change', () => this.choose(+c.a.select.value, +c.b.select.value));
      c.layout.select.addEventListener('change', redraw);
      c.mode.select.addEventListener('change', redraw);
      c.lines.addEventListener('change', redraw);
      c.play.addEventListener('click', () => this.play(!this.playing));
      c.close.addEventListener('click', () => {
        this.close();
        this.element.querySelector('.open').focus();
      });
      c.reset.addEventListener('click', () => { this.fit(); this.redraw(); });
      c.scrub.addEventListener('input', () => { this.play(false); this.seek(this.begin + c.scrub.value / 1000 * (this.end - this.begin)); });
      this.point(canvas);
      canvas.addEventListener('keydown', event => this.press(event));
      canvas.addEventListener('webglcontextlost', event => event.preventDefault());
      canvas.addEventListener('webglcontextrestored', () => {
        if (!this.stage) return;
        this.stage.prepare();
        this.stage.keep(this.runs);
        this.redraw();
      });
      this.watch = new ResizeObserver(redraw);
      this.watch.observe(this.frame);
      for (const change of [window.matchMedia('(prefers-color-scheme: dark)')]) change.addEventListener('change', redraw);
      window.addEventListener('elastobench-theme', redraw);
    }

    // One finger or button turns, two fingers (or with shift) move and zoom.
    point(canvas) {
      const held = new Map();
      const spread = () => { const [p, q] = [...held.values()]; return Math.hypot(p.x - q.x, p.y - q.y); };
      canvas.addEventListener('pointerdown', event => {
        held.set(event.pointerId, {x: event.clientX, y: event.clientY});
        canvas.setPointerCapture(event.pointerId);
      });
      canvas.addEventListener('pointermove', event => {
        const was = held.get(event.pointerId);
        if (!was) return;
        const dx = (event.clientX - was.x) / canvas.clientHeight, dy = (event.clientY - was.y) / canvas.clientHeight;
        const apart = held.size === 2 ? spread() : 0;
        held.set(event.pointerId, {x: event.clientX, y: event.clientY});
        if (held.size === 2) {
          this.eye.zoom(apart / (spread() || 1));
          this.eye.move(dx / 2, dy / 2);
        } else if (event.shiftKey || event.buttons & 2) this.eye.move(dx, dy);
        else this.eye.rotate(4 * dx, 4 * dy);
        this.redraw();
      });
      for (const end of ['pointerup', 'pointercancel']) canvas.addEventListener(end, event => held.delete(event.pointerId));
      canvas.addEventListener('contextmenu', event => event.preventDefault());
      canvas.addEventListener('wheel', event => {
        event.preventDefault();
        this.eye.zoom(Math.exp(event.deltaY * (event.deltaMode ? 0.03 : 0.001)));
        this.redraw();
      }, {passive: false});
    }

    press(event) {
      const act = {
        ' ': () => this.play(!this.playing), ArrowLeft: () => this.eye.rotate(-0.1, 0), ArrowRight: () => this.eye.rotate(0.1, 0),
        ArrowUp: () => this.eye.rotate(0, 0.1), ArrowDown: () => this.eye.rotate(0, -0.1), '+': () => this.eye.zoom(0.9), '-': () => this.eye.zoom(1.1),
        ',': () => this.step(-1), '.': () => this.step(1), Home: () => this.fit(),
      }[event.key];
      if (!act) return;
      event.preventDefault();
      act();
      this.redraw();
    }

    // ---- what is shown

    async choose(a, b = -1) {
      const c = this.control, wanted = [a, b].filter(i => i >= 0).map(i => this.entries[i]);
      c.a.select.value = a;
      c.b.select.value = b;
      const status = text => { if (this.wanted === wanted) c.status.textContent = text; };
      this.wanted = wanted; // what is chosen meanwhile takes its place
      status('Loading ' + wanted.map(entry => entry.label).join(' and ') + '\u2026');
      let runs;
      try {
        runs = await Promise.all(wanted.map(load));
      } catch (error) {
        status(error.message + '.');
        return;
      }
      if (!this.stage || this.wanted !== wanted) return;
      const first = this.runs.length === 0;
      this.runs = runs;
      this.labels = wanted.map(entry => entry.label);
      this.stage.keep(runs);
      this.begin = Math.min(...runs.map(run => run.time[0]));
      this.end = Math.max(...runs.map(run => run.time[run.time.length - 1]));
      if (first) {
        this.time = this.begin;
        this.fit();
        c.lines.checked = runs[0].parts[0].triangles < 20000;
        const fits = s => Math.abs(Math.log((this.end - this.begin) / s / 6));
        c.speed.select.value = speeds.reduce((best, s) => fits(s) < fits(best) ? s : best);
      }
      c.layout.line.hidden = runs.length < 2;
      c.b.line.hidden = this.entries.length < 2;
      this.offerModes();
      c.status.textContent = this.describe(wanted);
      this.seek(Math.min(Math.max(this.time, this.begin), this.end));
    }

    comparable() {
      const [a, b] = this.runs;
      return b && a.parts[0].topology === b.parts[0].topology;
    }

    offerModes() {
      const select = this.control.mode.select, had = select.value;
      const modes = [['region', 'region'], ['strain', 'strain']];
      if (this.runs.some(run => run.updated)) modes.push(['updated', 'updated elements']);
      if (this.comparable()) modes.push(['error', 'distance between the two']);
      if (this.runs.some(run => run.contacts)) modes.push(['contacts', 'contacts']);
      select.replaceChildren(...modes.map(([key, text]) => make('option', {value: key, textContent: text})));
      select.value = modes.some(([key]) => key === had) ? had : 'region';
      this.farthest = null;
    }

    describe(entries) {
      return this.runs.map((run, i) => `${entries[i].label}: ${run.time.length} of ${run.stored} stored frames, ` +
        `${run.parts[0].triangles} triangles, positions within ${short(run.precision, ' m')}` +
        (run.samples ? '; samples, each a step from a state of its own' : '')).join('. ') +
        '. Drag to turn, shift or two fingers to move, wheel to zoom; space plays, comma and full stop step.';
    }

    fit() {
      const box = {lo: [...this.runs[0].box.lo], hi: [...this.runs[0].box.hi]};
      for (const run of this.runs)
        for (let d = 0; d < 3; d++) {
          box.lo[d] = Math.min(box.lo[d], run.box.lo[d]);
          box.hi[d] = Math.max(box.hi[d], run.box.hi[d]);
        }
      this.box = box;
      this.eye.fit(box, (this.runs.find(run => !run.planar) ?? this.runs[0]).direction);
    }

    // ---- time

    seek(time) {
      this.time = time;
      this.redraw();
    }

    step(by) {
      const run = this.runs[0], moment = momentOf(run, this.time);
      this.play(false);
      const next = by < 0 ? (moment.share > 0 ? moment.from : moment.from - 1) : moment.from + 1;
      this.seek(run.time[Math.max(0, Math.min(run.time.length - 1, next))]);
    }

    play(on) {
      if (on && !this.runs?.length) return;
      this.playing = on;
      if (this.control) this.control.play.textContent = on ? 'Pause' : 'Play';
      if (!on) return;
      if (this.time >= this.end) this.time = this.begin;
      let before = null;
      const tick = now => {
        if (!this.playing || !this.stage) return;
        if (before !== null) this.time += (now - before) / 1000 * this.control.speed.select.value;
        before = now;
        if (this.time > this.end) this.time = this.end > this.begin ? this.begin + (this.time - this.end) % (this.end - this.begin) : this.begin;
        this.draw();
        requestAnimationFrame(tick);
      };
      requestAnimationFrame(tick);
    }

    redraw() {
      if (this.playing || this.asked) return;
      this.asked = true;
      requestAnimationFrame(() => { this.asked = false; this.draw(); });
    }

    // ---- drawing

    // The largest distance between two runs at the frames of the first: the end of the colours.
    distance() {
      if (this.farthest !== null) return this.farthest;
      const [a, b] = this.runs.map(run => run.parts[0]);
      const at = (run, part, moment, i, d) => {
        const row = part.moving ? 3 * part.vertices : 0, from = part.positions[moment.from * row + i], to = part.positions[moment.to * row + i];
        return part.lo[d] + part.size[d] * (from + moment.share * (to - from)) / 65535;
      };
      let most = 0;
      const stride = Math.max(1, Math.floor(a.vertices * this.runs[0].time.length / 4e5));
      this.runs[0].time.forEach(time => {
        const moments = this.runs.map(run => momentOf(run, time));
        for (let v = 0; v < a.vertices; v += stride) {
          let sum = 0;
          for (let d = 0; d < 3; d++) sum += (at(this.runs[0], a, moments[0], 3 * v + d, d) - at(this.runs[1], b, moments[1], 3 * v + d, d)) ** 2;
          most = Math.max(most, sum);
        }
      });
      return this.farthest = Math.sqrt(most);
    }

    range(mode) {
      return mode === 'error' ? this.distance() : Math.max(...this.runs.map(run => run.strain.range));
    }

    draw() {
      const stage = this.stage, canvas = stage?.canvas;
      if (!stage || !this.runs.length || stage.gl.isContextLost()) return;
      const dense = Math.min(window.devicePixelRatio || 1, 2), mode = this.control.mode.select.value;
      const wide = Math.round(canvas.clientWidth * dense), high = Math.round(canvas.clientHeight * dense);
      if (canvas.width !== wide || canvas.height !== high) { canvas.width = wide; canvas.height = high; }
      const style = getComputedStyle(this.element), color = name => rgb(style.getPropertyValue(name).trim());
      const moments = this.runs.map(run => momentOf(run, this.time)), range = this.range(mode);
      const over = this.runs.length > 1 && this.control.layout.select.value === 'over', panes = over ? 1 : this.runs.length;
      stage.clear(color('--plate'));
      for (let pane = 0; pane < panes; pane++) {
        const seen = this.eye.look(stage.pane(pane, panes));
        const shown = over ? this.runs : [this.runs[pane]];
        shown.forEach((run, i) => {
          const which = over ? i : pane, rest = 1 - which;
          const other = mode === 'error' ? {run: this.runs[rest], moment: moments[rest]} : null;
          const look = {...seen, mode: this.modeOf(run, mode), range, other, opacity: over && i ? 0.45 : 1, lines: this.control.lines.checked ? 1 : 0,
            tint: rgb(over && i && mode !== 'error' ? blue : plain)};
          if (over && i && (mode === 'region' || mode === 'error')) look.mode = 'contacts';
          stage.bodies(run, moments[which], look);
        });
        const run = shown[0], look = {...seen, mode: 'contacts', range: 1, other: null};
        stage.surroundings(run, moments[over ? 0 : pane], look);
        stage.floor(run, this.box, [...color('--ink'), 0.28], seen.camera);
        if (mode === 'contacts') shown.forEach((one, i) => this.drawContacts(one, moments[over ? i : pane], seen.camera, dense));
      }
      this.tell(moments, mode, range, panes, over);
    }

    // What a run has no data for is shown plain.
    modeOf(run, mode) { return mode === 'updated' && !run.updated ? 'contacts' : mode; }

    // Points, and forces as lines: the largest of all as long as a quarter of the bodies' box.
    drawContacts(run, moment, camera, dense) {
      const list = run.contacts;
      if (!list) return;
      const frame = moment.share > 0.5 ? moment.to : moment.from, first = list.offsets[frame], count = list.offsets[frame + 1] - first;
      const points = new Float32Array(3 * count), lines = new Float32Array(6 * count), reach = this.eye.radius / 2 / 32767;
      for (let i = 0; i < 3 * count; i++) {
        const d = i % 3, at = list.lo[d] + list.size[d] * list.points[3 * first + i] / 65535, line = 6 * Math.floor(i / 3) + d;
        points[i] = lines[line] = at;
        lines[line + 3] = at + reach * list.forces[3 * first + i];
      }
      const gl = this.stage.gl;
      gl.disable(gl.DEPTH_TEST);
      this.stage.points(gl.LINES, lines, [...rgb(red), 0.9], 1, camera);
      this.stage.points(gl.POINTS, points, [...rgb(red), 0.9], 4 * dense, camera);
      gl.enable(gl.DEPTH_TEST);
    }

    // ---- words beside the picture

    tell(moments, mode, range, panes, over) {
      const c = this.control;
      c.scrub.value = this.end > this.begin ? 1000 * (this.time - this.begin) / (this.end - this.begin) : 0;
      c.clock.textContent = 't = ' + this.time.toFixed(Math.max(0, Math.min(6, Math.ceil(2 - Math.log10(this.end - this.begin || 1))))) + ' s';
      c.scrub.setAttribute('aria-valuetext', c.clock.textContent);
      const names = this.runs.map((run, i) => {
        const past = this.time > run.time[run.time.length - 1] * (1 + 1e-9) ? ', ended' : '';
        return this.labels[i] + (over ? (i ? ' (translucent)' : ' (solid)') : '') + ', step ' + run.step[moments[i].from] + past + this.count(run, moments[i], mode);
      });
      this.texts(this.names, names.map(text => ['span', text]));
      this.names.classList.toggle('over', over);
      this.names.classList.toggle('stacked', !over && this.stage.canvas.width < this.stage.canvas.height);
      this.stage.canvas.setAttribute('aria-label', names.join('; '));
      this.showLegend(mode, range);
    }

    count(run, moment, mode) {
      if (mode === 'updated' && run.updated) {
        const n = run.updated.elements[moment.share > 0 ? moment.to : moment.from];
        return `: ${n} of ${run.updated.of} elements updated (${(100 * n / run.updated.of).toFixed(1)} %)`;
      }
      if (mode === 'contacts' && run.contacts) {
        const frame = moment.share > 0.5 ? moment.to : moment.from;
        return `: ${run.contacts.offsets[frame + 1] - run.contacts.offsets[frame]} contacts`;
      }
      return '';
    }

    // Replaces elements only when they say something else: they stand beside a moving picture.
    texts(parent, list) {
      const said = JSON.stringify(list);
      if (parent.said === said) return;
      parent.said = said;
      parent.replaceChildren(...list.map(([tag, text, color]) => {
        const made = make(tag, {textContent: text});
        if (color) made.style.background = color;
        return made;
      }));
    }

    showLegend(mode, range) {
      const chip = (color, text) => [['i', '', color], ['span', text]];
      const bar = (text, unit, factor = 1) => [['span', '0'], ['b', '', `linear-gradient(to right, ${scale})`], ['span', short(factor * range, unit) + ' and more'], ['span', text]];
      const regions = [...new Set(this.runs.flatMap(run => run.regions))];
      const list = {
        region: () => regions.slice(0, 12).flatMap((name, r) => chip(this.runs[0].palette[r % 10], name)),
        strain: () => bar('largest |principal stretch \u2212 1| of the element behind', ' %', 100),
        updated: () => chip(orange, 'element matrix brought up to date since the frame before'),
        error: () => bar('distance of each point from where the other run has it at that time', ' m'),
        contacts: () => chip(red, 'contacts of the frame, with the force on the first body; the longest line is ' +
          short(Math.max(...this.runs.map(run => run.contacts?.most ?? 0)), ' N')),
      }[mode]();
      this.texts(this.control.legend, list);
    }
  }

  for (const element of document.querySelectorAll('.player')) players.push(new Player(element));

  // A link that names runs plays them: data-play="a, b" beside the player that has them.
  document.addEventListener('click', event => {
    const link = event.target.closest?.('[data-play]');
    if (!link) return;
    const names = link.dataset.play.split(',').map(name => name.trim());
    for (const player of players) {
      const found = names.map(name => player.find(name)).filter(i => i >= 0);
      if (found.length === 0) continue;
      event.preventDefault();
      player.element.scrollIntoView({block: 'center'});
      player.open(found[0], found[1] ?? -1).then(() => player.play(true));
      return;
    }
  });

  return {add, players};
})();
