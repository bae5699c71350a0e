// The engine: Python in a worker. The only place that knows WebAssembly and where files
// are. The page talks to it in seven messages, which another engine must understand, too:
//
//   to the engine      start {base, files, cache, code} fetch Python and prepare it
//                      run {index, source, needs}       run a cell, with these packages
//   from the engine    progress {got, of}               bytes
//                      ready {code}                     cells can run; the next starts with this code
//                      output {output}                  as a notebook stores it
//                      done                             the cell has ended
//                      broken {text}                    this Python is lost
//
// What a cell gives comes from website/live/inside.py, an output a line.
import { ConsoleStdout, Directory, File, PreopenDirectory, WASI } from "../engine/package/dist/index.js";

const LIBRARY = "python315.zip";
const FOLDER = "/usr/local/lib";
const INSIDE = "__import__('website.live.inside', fromlist=['inside'])";
const MOST = 5_000_000; // bytes; the book's largest cell gives 90,000
const OVER = `the output is over ${MOST / 1e6} MB, and what came after it is lost; print less`;
const LOST = { output_type: "error", ename: "MemoryError", evalue: OVER, traceback: `MemoryError: ${OVER}` };
const packs = new Directory([]);
const errors = [];
let engine;
let store; // the browser's cache of this engine, or null
let files; // what the engine consists of: {key: {name, bytes}}
let left = MOST;

const send = (kind, what = {}) => postMessage({ kind, ...what });

// A file, unpacked: from the browser's cache, or from the site, and then kept.
const load = async (file, count) => {
  const hit = await store?.match(file.url).catch(() => null);
  const lost = () => {
    throw new Error(`${file.name} could not be fetched; is there a network?`);
  };
  const answer = hit ?? (await fetch(file.url, { cache: "no-cache" }).catch(lost));
  if (!answer.ok) throw new Error(`the site has no ${file.name} (${answer.status})`);
  const counted = new TransformStream({
    transform(part, to) {
      count(part.length);
      to.enqueue(part);
    },
  });
  const data = await new Response(answer.body.pipeThrough(counted)).blob().catch(lost);
  const [first, second] = new Uint8Array(await data.slice(0, 2).arrayBuffer());
  const packed = first === 0x1f && second === 0x8b; // or a server unpacked it on the way
  if (packed ? data.size !== file.bytes : data.size < file.bytes) {
    await store?.delete(file.url); // so that the next run fetches it
    throw new Error(`${file.name} is damaged or incomplete`);
  }
  if (!hit && packed) await store?.put(file.url, new Response(data)).catch(() => {});
  return new Response(packed ? data.stream().pipeThrough(new DecompressionStream("gzip")) : data.stream());
};

const fetchAll = async (names) => {
  const of = names.reduce((sum, name) => sum + files[name].bytes, 0);
  let got = 0;
  const count = (more) => send("progress", { got: (got += more), of });
  return Promise.all(names.map((name) => load(files[name], count)));
};

const file = async (answer) => new File(new Uint8Array(await answer.arrayBuffer()), { readonly: true });
const compile = (answer) => WebAssembly.compileStreaming(new Response(answer.body, { headers: { "Content-Type": "application/wasm" } }));

// Only one engine is kept; a browser may also refuse to keep any.
const open = async (name) => {
  const others = (await caches.keys()).filter((key) => key.startsWith("live-") && key !== name);
  for (const key of others) await caches.delete(key);
  return caches.open(name);
};

// What Python writes: each line is an output, and more than MOST bytes of a cell an error.
const decoder = new TextDecoder();
let rest = "";
const write = (data) => {
  const fits = left > 0;
  left -= data.length;
  if (left <= 0) rest = "";
  if (fits && left <= 0) send("output", { output: LOST });
  if (left <= 0) return;
  const found = (rest + decoder.decode(data, { stream: true })).split("\n");
  rest = found.pop();
  for (const line of found) heard(line);
};

// A line that is no output was written past Python's own print.
const heard = (line) => {
  let output = { output_type: "stream", name: "stdout", text: `${line}\n` };
  try {
    const said = JSON.parse(line);
    if (["stream", "display_data", "error"].includes(said?.output_type)) output = said;
  } catch {
    // Then it is text.
  }
  send("output", { output });
};

const say = (source) => {
  const text = new TextEncoder().encode(source);
  const place = engine.host_alloc(text.length) >>> 0;
  new Uint8Array(engine.memory.buffer, place, text.length).set(text);
  if (engine.turn(place, text.length) !== 0) throw new Error(errors.splice(0).join("").slice(-300) || "Python gave up");
};
const ask = (request) => say(`${INSIDE}.handle(${JSON.stringify(JSON.stringify(request))})`);

const does = {
  async start({ base, files: all, cache, code: known }) {
    files = all;
    for (const each of Object.values(files)) each.url = new URL(each.name, base).href;
    store = await open(cache).catch(() => null);
    const answers = await fetchAll(["library", "drawing", "book", ...(known ? [] : ["python"])]);
    const compiled = known ?? compile(answers.pop());
    const [library, drawing, book, code] = await Promise.all([...answers.map(file), compiled]);
    const live = [["packs", packs], ["book.zip", book], ["drawing.zip", drawing]];
    const root = [["home", new Directory([])], ["tmp", new Directory([])], ["live", new Directory(live)]];
    const wasi = new WASI(
      ["python"],
      ["HOME=/home", "TMPDIR=/tmp", "MPLCONFIGDIR=/home", "PYTHONTZPATH="],
      [
        new ConsoleStdout(() => {}),
        new ConsoleStdout(write),
        new ConsoleStdout((data) => errors.push(new TextDecoder().decode(data))),
        new PreopenDirectory("/", root),
        new PreopenDirectory(FOLDER, [[LIBRARY, library]]),
        new PreopenDirectory(`${FOLDER}/${LIBRARY}/matplotlib/mpl-data`, []),
      ],
      { debug: false },
    );
    const imports = {};
    for (const [name, call] of Object.entries(wasi.wasiImport)) {
      imports[name] = (...values) => call.apply(wasi.wasiImport, values) ?? 0;
    }
    imports.path_filestat_set_times = imports.fd_filestat_set_times = () => 0;
    const host = { call: () => -1 };
    const instance = await WebAssembly.instantiate(code, { wasi_snapshot_preview1: imports, host });
    wasi.initialize(instance);
    engine = instance.exports;
    say("__import__('sys').path.insert(0, '/live/book.zip')");
    ask({ do: "start" });
    send("ready", { code });
  },

  // A package that cannot be had fails where the cell imports it.
  async run({ index, source, needs }) {
    const wanted = needs.filter((name) => !packs.contents.has(`${name}.zip`));
    const came = await fetchAll(wanted).catch(() => []);
    for (const [at, answer] of came.entries()) packs.contents.set(`${wanted[at]}.zip`, await file(answer));
    left = MOST;
    ask({ do: "run", index, source });
    if (rest) heard(rest);
    rest = "";
    send("done");
  },
};

addEventListener("message", async ({ data }) => {
  try {
    await does[data.do](data);
  } catch (error) {
    send("broken", { text: error?.message ?? String(error) });
  }
});
