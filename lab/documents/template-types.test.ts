import { readFileSync } from "node:fs";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CliTestProcess, createTempTestDirectoryWithFiles } from "../../src/cli/cli-test-process.fixture.ts";
import { buildTemplateFiles } from "../../src/cli/init/template-files.ts";
import { parseCodeBlocks, root } from "../../test/documents/code-blocks.ts";

const NEXT_ROUTE = "app/agents/[[...path]]/route.ts";

describe("the templates of colloquy init", () => {
  // The other templates need packages that this repository does not install. `npm run lab -- templates` checks them.
  it.each(["hono", "adk"] as const)("%s has no type errors", async (template) => {
    const lib = ["es2024", "esnext.disposable", ...(template === "hono" ? ["dom", "dom.iterable"] : [])];
    const files = buildTemplateFiles(template, "my-app", "x");
    expect(await findTypeErrors(files, { compilerOptions: { lib } })).toEqual([]);
  });

  it("next has no type errors, also with the other documented routes, and its routes answer preflight requests", async () => {
    const files = buildTemplateFiles("next", "my-app", "x");
    const vercelRoute = parseCodeBlocks("docs/deploy/README.md").find(
      ({ file }) => file === NEXT_ROUTE,
    )?.code;
    const routes = {
      [NEXT_ROUTE]: files[NEXT_ROUTE] ?? "",
      "app/vercel/[[...path]]/route.ts": vercelRoute ?? "",
      "app/example/[[...path]]/route.ts": readFileSync(join(root, "examples/hosts/next-route.ts"), "utf8"),
    };
    for (const route of Object.values(routes)) expect(route).toMatch(/\bOPTIONS }/);
    const stub = `declare module "next/server" { export function after(promise: Promise<unknown>): void; }`;
    const config = {
      compilerOptions: { lib: ["es2024", "esnext.disposable", "dom", "dom.iterable"], incremental: false },
      include: ["next.d.ts", ...Object.keys(routes), "app/Chat.tsx"],
    };
    expect(await findTypeErrors({ ...files, ...routes, "next.d.ts": stub }, config)).toEqual([]);
  });
});

/** Writes a project, checks its types with the sources of this package, and returns the errors in its files. */
async function findTypeErrors(
  files: Readonly<Record<string, string>>,
  { compilerOptions, ...config }: { readonly compilerOptions: object; readonly include?: string[] },
): Promise<string[]> {
  const { ["package.json"]: manifest = "", ...others } = files;
  const cwd = await createTempTestDirectoryWithFiles({ ...others, "package.json": manifest });
  await symlink(join(root, "node_modules"), join(cwd, "node_modules"));
  const paths = {
    colloquy: [join(root, "src/entries/colloquy.ts")],
    "colloquy/ui/react": [join(root, "src/entries/ui-react.ts")],
    "colloquy/*": [join(root, "src/entries/*.ts")],
  };
  const options = { paths, ...compilerOptions };
  const project = { extends: "./tsconfig.json", ...config, compilerOptions: options };
  await writeFile(join(cwd, "tsconfig.source.json"), JSON.stringify(project));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { out } = await new CliTestProcess(
    process.execPath,
    [tsc, "-p", "tsconfig.source.json", "--singleThreaded"],
    cwd,
  ).result;
  // The sources of this package are not written for the DOM types of a page.
  const isOutside = (line: string): boolean => line.startsWith("../") || line.startsWith("/");
  return out.split("\n").filter((line) => line.includes("error TS") && !isOutside(line));
}
