/**
 * The last step of the build: puts the command line, and what it needs to talk to an agent, into a few files
 * (docs/decisions has what that is worth). Rooms that the agents' own files load too stay as they are.
 */
import { readdirSync, rmSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const dist = fileURLToPath(new URL("../dist/", import.meta.url));
const cli = join(dist, "cli");
const ROOMS = new Set(["cli", "client", "wire", "keys", "protocol"]);
const PACKAGES = new Set(["commander", "eventsource-parser", "canonicalize"]);

const bundle = await rolldown({
  input: { main: join(cli, "main.js") },
  platform: "node",
  external: (id) => /^[a-z@]/i.test(id) && !PACKAGES.has(id),
  plugins: [{ name: "rooms", resolveId: roomOf }],
});
const { output } = await bundle.write({
  dir: cli,
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
  // What most commands need is one file.
  codeSplitting: { groups: [{ name: "shared", minShareCount: 10 }] },
  plugins: [{ name: "builtins", renderChunk: withBuiltins }],
});
await bundle.close();

const written = new Set(output.map(({ fileName }) => fileName));
if (output.some(({ code }) => code?.includes("class A2AError")))
  throw new Error("A2AError is in the bundle; leave the file that has it now outside (`roomOf`).");
for (const name of readdirSync(cli)) if (!written.has(name)) rmSync(join(cli, name), { recursive: true });

/** Another room is loaded from where it is. So is the error class: with a copy in here, `instanceof` misses what rooms throw. */
async function roomOf(id, importer, options) {
  const found = await this.resolve(id, importer, { ...options, skipSelf: true });
  if (!found?.id.startsWith(dist)) return found;
  const path = relative(dist, found.id).split(sep);
  return ROOMS.has(path[0]) && path.join("/") !== "protocol/error.js"
    ? found
    : { id: ["..", ...path].join("/"), external: true };
}

/**
 * `import` of a module of Node's looks at all that it exports, and so loads what only some of it needs: `process` its
 * three streams, `http` all of `fetch`. What is taken by hand loads nothing else.
 */
function withBuiltins(code) {
  return code.replaceAll(
    /^import (?:([\w$]+)(?:, )?)?(\{.*\})? from "(node:[^"]+)";$/gm,
    (_, own, some, module) => {
      const got = `globalThis.process.getBuiltinModule("${module}")`;
      // commander has it for commands that are programs of their own, of which there are none.
      if (module === "node:child_process")
        return `const ${own} = { spawn: (...args) => ${got}.spawn(...args) };`;
      const names = [own, some?.replaceAll(" as ", ": ")].filter(Boolean);
      return `const ${names.map((name) => `${name} = ${got}`).join(", ")};`;
    },
  );
}
