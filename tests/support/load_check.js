// How the player takes scripts of runs that do not do what they should: its functions `add` and `load`, in a page that is none. Called
// with the path of player.js by player.t.
'use strict';
const source = require('fs').readFileSync(process.argv[2], 'utf8');
const part = source.slice(source.indexOf('// ---- runs'), source.indexOf('// The frames around'));
let arrive; // what becomes of a script that is put into the page
const page = {createElement: () => ({}), head: {append: script => setImmediate(() => arrive(script))}};
const {add, load} = new Function('document', part + '; return {add, load};')(page);
const told = async (name, way) => {
  arrive = way;
  try {
    console.log(`${name}: ${(await load({name: 'run', file: 'run.js'})).name}`);
  } catch (error) {
    console.log(`${name}: ${error.message}`);
  }
};
(async () => {
  await told('missing', script => script.onerror());
  await told('empty', script => script.onload?.());
  await told('damaged', script => {
    try { add({name: 'run', parts: [{index: 5}]}); } catch { /* as a browser goes on behind a script that fails */ }
    script.onload?.();
  });
  await told('whole', script => { add({name: 'run', parts: [], region: '', strain: {data: ''}}); script.onload?.(); });
})();
