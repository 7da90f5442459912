// What a browser makes of a report: put behind the page's own scripts by player.t, which reads the answers from the element "check".
'use strict';
(async () => {
  const answers = {errors: []};
  window.addEventListener('error', event => answers.errors.push(event.message || 'a file is missing: ' + (event.target.src ?? event.target.href)), true);
  window.addEventListener('unhandledrejection', event => answers.errors.push(String(event.reason)));

  // Tables: each column of the first one, once up and once down.
  const table = document.querySelector('table.ranks'), heads = [...table.tHead.rows[0].cells];
  const column = c => [...table.tBodies].map(body => [...body.rows].filter(row => !row.classList.contains('class')).map(row => row.cells[c].textContent));
  const step = heads.findIndex(head => head.textContent.startsWith('step, median'));
  answers.unsorted = column(step);
  const press = () => heads[step].querySelector('button')?.click(); // there is none where there is one row
  press();
  answers.up = {rows: column(step), aria: heads[step].ariaSort};
  press();
  answers.down = {rows: column(step), aria: heads[step].ariaSort};
  press();
  answers.back = {rows: column(step), aria: heads[step].ariaSort};
  answers.classFirst = [...table.tBodies].every(body => body.rows[0].classList.contains('class'));

  document.querySelector('button.theme').click();
  answers.theme = document.documentElement.dataset.theme;
  answers.dangling = [...document.querySelectorAll('a[href^="#"]')].filter(a => !document.getElementById(a.hash.slice(1))).map(a => a.hash);

  // The player: how much of each half of the picture is not background, and what it looks like on average, in every mode.
  const look = player => {
    player.draw();
    const gl = player.stage.gl, w = gl.drawingBufferWidth, h = gl.drawingBufferHeight, pixels = new Uint8Array(4 * w * h);
    gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    const halves = [0, 0], warm = [0, 0], sum = [0, 0, 0];
    for (let i = 0; i < w * h; i++) {
      const [r, g, b] = pixels.subarray(4 * i, 4 * i + 3), paper = Math.abs(r - pixels[0]) + Math.abs(g - pixels[1]) + Math.abs(b - pixels[2]);
      if (Math.max(r, g, b) - Math.min(r, g, b) < 24 || paper < 40) continue; // greys are the ground and the walls
      halves[i % w < w / 2 ? 0 : 1]++;
      warm[i % w < w / 2 ? 0 : 1] += r - b > 60;
      [r, g, b].forEach((c, k) => { sum[k] += c; });
    }
    return {halves, warm, mean: sum.map(c => Math.round(c / (halves[0] + halves[1] || 1)))};
  };
  answers.players = [];
  try {
    for (const player of elastobench.players) {
      await player.open(0, player.entries.length > 1 ? 1 : -1);
      const c = player.control, seen = {runs: player.runs.length, modes: {}};
      c.lines.checked = false;
      for (const option of [...c.mode.select.options]) {
        c.mode.select.value = option.value;
        const updated = player.runs[0].updated?.elements;
        player.time = option.value === 'updated' && updated ? player.runs[0].time[updated.indexOf(Math.max(...updated))] : player.end;
        seen.modes[option.value] = look(player);
        seen.legend = c.legend.textContent;
      }
      c.layout.select.value = 'over';
      c.mode.select.value = 'region';
      seen.over = look(player);
      c.layout.select.value = 'side';
      player.time = player.begin;
      seen.start = look(player);
      player.eye.rotate(0.5, 0.2);
      seen.turned = look(player);
      seen.status = c.status.textContent;
      seen.spoken = c.scrub.getAttribute('aria-valuetext');
      seen.posters = [...player.element.querySelectorAll(':scope > figure')].filter(figure => figure.offsetParent).length;
      seen.error = player.stage.gl.getError();
      answers.players.push(seen);
      player.close();
    }
  } catch (error) {
    answers.errors.push(error.stack);
  }
  const said = document.createElement('pre');
  said.id = 'check';
  said.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(answers))));
  document.body.append(said);
})();
