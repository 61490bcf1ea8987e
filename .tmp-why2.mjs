import { build } from "esbuild"; import { join } from "node:path";
const root = process.cwd();
const code = process.argv[2];
const { metafile } = await build({ bundle: true, minify: true, platform: "browser", target: "es2024", write: false, stdin: { contents: code, resolveDir: root }, format: "esm", splitting: true, metafile: true, outdir: root });
for (const [p, o] of Object.entries(metafile.outputs)) console.log(p, o.bytes, Object.keys(o.inputs).some(k=>k.includes("jose"))?"JOSE":"", o.imports.map(i=>i.path+":"+i.kind).join(" "));
