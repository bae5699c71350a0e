// Python on a page: fetches the engine, starts it, and runs what the page sends. The only
// place that knows WebAssembly. It talks to the page in messages; what Python says comes
// from website/live/inside.py, an event a line.
import {
  ConsoleStdout,
  Directory,
  File,
  PreopenDirectory,
  WASI,
} from "../engine/wasi/index.js";

const LIBRARY = "python315.zip";
const FOLDER = "/usr/local/lib";
const packs = new Set(); // that came
let engine;
let store; // the browser's cache of this engine, or null
let files; // where each file of the engine is, and how large

const send = (kind, what = {}) => postMessage({ kind, ...what });

const askSite = (file) =>
  fetch(file.url, { cache: "no-cache" }).catch(() => {
    throw new Error(`${file.name} could not be fetched; is there a network?`);
  });

// Whether it is what its name says; a site without https gives no means to tell.
const whole = async (file, data) => {
  if (!crypto.subtle) return data.size === file.bytes;
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", await data.arrayBuffer()));
  const start = Array.from(hash.slice(0, 4), (byte) => byte.toString(16).padStart(2, "0"));
  return file.name.includes(`-${start.join("")}.`);
};

// A file: from the browser's cache, or from the site, and then kept.
const load = async (file, count, anew = false) => {
  const hit = anew ? null : await store?.match(file.url).catch(() => null);
  const answer = hit ?? (await askSite(file));
  if (!answer.ok) throw new Error(`the site has no ${file.name} (${answer.status})`);
  const parts = [];
  let got = 0;
  const reader = answer.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    got += value.length;
    count(value.length);
  }
  const data = new Blob(parts);
  const [first, second] = new Uint8Array(await data.slice(0, 2).arrayBuffer());
  const packed = first === 0x1f && second === 0x8b; // or a server unpacked it on the way
  if (packed ? !(await whole(file, data)) : got < file.bytes) {
    if (!hit) throw new Error(`${file.name} is damaged or incomplete`);
    count(-got);
    return load(file, count, true);
  }
  if (!hit && packed) await store?.put(file.url, new Response(data)).catch(() => {});
  return packed ? data.stream().pipeThrough(new DecompressionStream("gzip")) : data.stream();
};

const bytes = async (stream) => new Uint8Array(await new Response(stream).arrayBuffer());

// Only one engine is kept; a browser may also refuse to keep any.
const open = async (name) => {
  try {
    for (const key of await caches.keys()) {
      if (key.startsWith("live-") && key !== name) await caches.delete(key);
    }
    store = await caches.open(name);
  } catch {
    store = null;
  }
};

const fetchAll = async (names) => {
  const wanted = names.filter((name) => !packs.has(name));
  const of = wanted.reduce((sum, name) => sum + files[name].bytes, 0);
  let got = 0;
  const count = (more) => send("progress", { got: (got += more), of });
  const streams = await Promise.all(wanted.map((name) => load(files[name], count)));
  return Object.fromEntries(wanted.map((name, at) => [name, streams[at]]));
};

// Packages that the text of a cell asks for.
const bring = async (names) => {
  for (const [name, stream] of Object.entries(await fetchAll(names))) {
    packs.add(name);
    engine.packs.contents.set(`${name}.zip`, new File(await bytes(stream), { readonly: true }));
  }
};

const textOf = (write) => {
  const decoder = new TextDecoder();
  let rest = "";
  return new ConsoleStdout((data) => {
    const lines = (rest + decoder.decode(data, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines) write(line);
  });
};

const start = async ({ base, all, cache }) => {
  files = all;
  for (const file of Object.values(files)) file.url = new URL(file.name, base).href;
  await open(cache);
  const streams = await fetchAll(["python", "library", "drawing", "book"]);
  send("starting");
  const answer = new Response(streams.python, { headers: { "Content-Type": "application/wasm" } });
  const compiled = WebAssembly.compileStreaming(answer);
  compiled.catch(() => {}); // heard below
  const file = async (name) => new File(await bytes(streams[name]), { readonly: true });
  const packed = new Directory([]);
  const live = new Directory([
    ["packs", packed],
    ["book.zip", await file("book")],
    ["drawing.zip", await file("drawing")],
  ]);
  const root = new PreopenDirectory("/", [
    ["home", new Directory([])],
    ["tmp", new Directory([])],
    ["live", live],
  ]);
  const library = new PreopenDirectory(FOLDER, [[LIBRARY, await file("library")]]);
  const data = new PreopenDirectory(`${FOLDER}/${LIBRARY}/matplotlib/mpl-data`, []);
  const errors = [];
  const wasi = new WASI(
    ["python"],
    ["HOME=/home", "TMPDIR=/tmp", "MPLCONFIGDIR=/home", "PYTHONTZPATH="],
    [
      new ConsoleStdout(() => {}),
      textOf((line) => {
        try {
          postMessage(JSON.parse(line));
        } catch {
          send("text", { stream: "stdout", text: `${line}\n` });
        }
      }),
      textOf((line) => errors.push(line)),
      root,
      library,
      data,
    ],
    { debug: false },
  );
  const imports = {};
  for (const [name, call] of Object.entries(wasi.wasiImport)) {
    imports[name] = (...values) => call.apply(wasi.wasiImport, values) ?? 0;
  }
  imports.path_filestat_set_times = imports.fd_filestat_set_times = () => 0;
  const instance = await WebAssembly.instantiate(await compiled, {
    wasi_snapshot_preview1: imports,
    host: { call: () => -1 },
  });
  wasi.initialize(instance);
  engine = { ...instance.exports, packs: packed, errors };
  say("__import__('sys').path.insert(0, '/live/book.zip')");
  ask({ do: "prepare" });
};

const say = (source) => {
  const text = new TextEncoder().encode(source);
  const place = engine.host_alloc(text.length) >>> 0;
  new Uint8Array(engine.memory.buffer, place, text.length).set(text);
  if (engine.turn(place, text.length) !== 0) {
    throw new Error(engine.errors.splice(0).slice(-3).join("\n") || "Python gave up");
  }
};

const ask = (request) => say(`__import__('website.live.inside', fromlist=['inside']).handle_request(${JSON.stringify(JSON.stringify(request))})`);

const does = {
  start,
  run: async (request) => {
    if (request.needs.length) await bring(request.needs);
    ask(request);
    send("memory", { bytes: engine.memory.buffer.byteLength });
  },
};

addEventListener("message", async ({ data }) => {
  try {
    await does[data.do](data);
  } catch (error) {
    send("broken", { text: error?.message ?? String(error) });
  }
});
