// What every page does beside being read: a switch between light and dark, tables sorted by a click on
// a heading, filters where there are many runs, folds that open when something in them is asked for,
// and all of it unfolded on paper. Without scripts the page says the same.
'use strict';
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);

  // ---- light and dark: as the system has it until the reader says otherwise
  const root = document.documentElement, themes = ['auto', 'light', 'dark'];
  const stored = { // a browser may keep nothing for pages from disk
    get() { try { return localStorage.getItem('elastobench-theme'); } catch { return null; } },
    set(theme) { try { localStorage.setItem('elastobench-theme', theme); } catch { /* it lasts as long as the page */ } },
  };
  const button = make('button', {type: 'button', className: 'theme'});
  function show(theme) {
    root.dataset.theme = theme;
    button.textContent = 'theme: ' + theme;
    window.dispatchEvent(new Event('elastobench-theme'));
  }
  button.addEventListener('click', () => {
    const next = themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length];
    stored.set(next);
    show(next);
  });
  show(themes.includes(stored.get()) ? stored.get() : 'auto');
  all('nav').slice(0, 1).forEach(nav => nav.append(button));

  // ---- tables
  const rowsOf = body => [...body.rows].filter(row => !row.classList.contains('class'));

  // A number as one, what is no number as text; a dash has no place in the order and stands last.
  function key(row, column) {
    const text = (row.cells[column]?.textContent ?? '').trim();
    if (text === '' || text === '-' || text === '\u2013') return null;
    const number = Number(text.replace(/[\s,%]/g, ''));
    return Number.isNaN(number) ? text.toLowerCase() : number;
  }
  function compare(a, b) {
    if (a === null || b === null) return (a === null) - (b === null);
    if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
    return typeof a === 'number' ? -1 : 1;
  }
  // Within each part of the table; "none" is the order in which the page was written.
  function sort(table, column, direction) {
    for (const body of table.tBodies) {
      const rows = rowsOf(body);
      rows.forEach((row, place) => { row.place ??= place; });
      rows.sort((a, b) => {
        const x = key(a, column), y = key(b, column), order = compare(x, y);
        return (direction === 'none' ? 0 : direction === 'descending' && x !== null && y !== null ? -order : order) || a.place - b.place;
      });
      body.append(...rows);
    }
  }
  function sortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const handle = make('button', {type: 'button', className: 'sort'});
      handle.append(...head.childNodes);
      head.append(handle);
      head.ariaSort = 'none';
      handle.addEventListener('click', () => {
        const turns = {none: 'ascending', ascending: 'descending', descending: 'none'};
        const next = turns[head.ariaSort];
        heads.forEach(other => { other.ariaSort = 'none'; });
        head.ariaSort = next;
        sort(table, column, next);
      });
    });
  }
  all('table').filter(table => table.tHead && [...table.tBodies].some(body => rowsOf(body).length > 1)).forEach(sortable);

  // What is wider than its place is moved by the keyboard too.
  const reach = new ResizeObserver(list => list.forEach(({target}) => {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0; else target.removeAttribute('tabindex');
  }));
  all('.scroll').forEach(box => reach.observe(box));

  // ---- filters
  const scenes = all('section.scene');
  const solverRows = scenes.flatMap(scene => all('table.runs > tbody > tr:not(.class)', scene));
  const words = text => text.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (text, wanted) => wanted.every(word => text.toLowerCase().includes(word));
  function filter(label, apply) {
    const field = make('input', {type: 'search', placeholder: 'part of a name'});
    const line = make('label', {textContent: label + ' '});
    field.addEventListener('input', () => apply(words(field.value)));
    line.append(field);
    return line;
  }
  if (solverRows.length > 40) {
    const bar = make('form', {className: 'filters'});
    bar.addEventListener('submit', event => event.preventDefault());
    if (scenes.length > 1)
      bar.append(filter('Scenes', wanted => scenes.forEach(scene => {
        scene.hidden = !matches(scene.querySelector('h2').textContent, wanted);
      })));
    bar.append(filter('Solvers', wanted => solverRows.forEach(row => {
      row.hidden = !matches(row.cells[0].textContent, wanted);
    })));
    scenes[0].before(bar);
  }

  // ---- folds
  function unfold(target) {
    for (let fold = target?.closest('details'); fold; fold = fold.parentElement.closest('details')) fold.open = true;
  }
  function follow() {
    if (location.hash.length < 2) return;
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    unfold(target);
    all(':scope > details', target.cells ? target.cells[target.cells.length - 1] : target).forEach(fold => { fold.open = true; });
    target.scrollIntoView();
  }
  window.addEventListener('hashchange', follow);
  follow();

  // ---- paper
  let folded = [];
  window.addEventListener('beforeprint', () => {
    folded = all('details:not([open])');
    folded.forEach(fold => { fold.open = true; });
  });
  window.addEventListener('afterprint', () => folded.forEach(fold => { fold.open = false; }));
})();
