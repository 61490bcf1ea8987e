import { build } from "esbuild"; import { readFileSync } from "node:fs"; import { gzipSync } from "node:zlib"; import { join } from "node:path";
const root = process.cwd();
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const plugin = { name: "s", setup(b) { b.onResolve({ filter: /^colloquy(\/|$)/ }, ({ path }) => { const t = exports[`.${path.slice(8)}`]?.default ?? ""; return { path: join(root, t.replace(/^\.\/dist/, "src").replace(/\.js$/, ".ts")), sideEffects: false }; }); } };
for (const [name, code] of [["connect", `export { connect } from "colloquy/client";`], ["server", `export { agent, createServer } from "colloquy";`]]) {
  const { outputFiles, metafile } = await build({ bundle: true, minify: true, platform: "browser", target: "es2024", write: false, logLevel: "silent", plugins: [plugin], stdin: { contents: code, resolveDir: root }, format: "esm", splitting: true, metafile: true, outdir: root });
  const outs = Object.entries(metafile.outputs);
  const first = new Set(outs.filter(([, o]) => o.entryPoint === "<stdin>").map(([p]) => p));
  for (const p of first) for (const i of metafile.outputs[p].imports) if (i.kind === "import-statement") first.add(i.path);
  let firstGz = 0, allGz = 0;
  for (const f of outputFiles) { const gz = gzipSync(f.contents, { level: 9 }).length; allGz += gz; const p = f.path.slice(root.length + 1); if ([...first].some((x) => x.endsWith(p))) firstGz += gz; console.log(name, p, f.contents.length, gz, [...first].some((x) => x.endsWith(p)) ? "FIRST" : ""); }
  console.log(name, "first", firstGz, "all", allGz);
  const inputs = {};
  for (const [p, o] of outs) if (first.has(p)) for (const [i, { bytesInOutput }] of Object.entries(o.inputs)) inputs[i] = (inputs[i] ?? 0) + bytesInOutput;
  const rooms = {};
  for (const [i, n] of Object.entries(inputs)) { const k = i.startsWith("src/") ? i.split("/").slice(1, i.split("/").length > 3 ? 3 : 2).join("/") : i.split("/").slice(0, 2).join("/"); rooms[k] = (rooms[k] ?? 0) + n; }
  console.log(Object.entries(rooms).sort((a, b) => b[1] - a[1]).map(([k, n]) => `${k}\t${n}`).join("\n"));
  console.log("--- top files"); console.log(Object.entries(inputs).sort((a, b) => b[1] - a[1]).slice(0, process.argv[2] ?? 75).map(([k, n]) => `${k}\t${n}`).join("\n"));
}
