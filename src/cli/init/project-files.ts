import { readFileSync } from "node:fs";
import { join } from "node:path";
import { getPackageFolder } from "../package-version.ts";

/**
 * Returns the files of a minimal agent project by file path. `dependency` is the version range or the address
 * of Colloquy in package.json.
 */
export function buildProjectFiles(name: string, dependency: string): Record<string, string> {
  return {
    "package.json": formatJson({
      name,
      version: "0.1.0",
      private: true,
      type: "module",
      engines: { node: ">=22.13" },
      scripts: { dev: "colloquy dev", start: "colloquy serve", check: "tsc" },
      dependencies: { colloquy: dependency },
      devDependencies: { "@types/node": "^24.0.0", typescript: "^7.0.0" },
    }),
    "tsconfig.json": formatJson({
      compilerOptions: {
        target: "es2024",
        lib: ["es2024"],
        module: "nodenext",
        strict: true,
        noEmit: true,
        types: ["node"],
        erasableSyntaxOnly: true,
        verbatimModuleSyntax: true,
        allowImportingTsExtensions: true,
        skipLibCheck: true,
      },
      include: ["*.ts"],
    }),
    "colloquy.config.ts": `import { defineConfig } from "colloquy";

/** Settings for \`colloquy dev\` and \`colloquy serve\`. Command-line options override them. */
export default defineConfig({
  agents: ["agent.ts"],
  port: 4120,
});
`,
    "agent.ts": `import { agent, status } from "colloquy";

/** Each yielded value reaches the caller at once. A thrown error fails the task. */
export default agent(
  { name: ${JSON.stringify(name)}, description: "Greets its caller" },
  async function* ({ text }) {
    yield status("Thinking of something nice…");
    yield \`Hello, \${text}!\`;
  },
);
`,
    ".gitignore": "node_modules/\n.colloquy/\n.env\n",
    "README.md": readFileSync(
      join(getPackageFolder(), "templates/shared-project/README.md"),
      "utf8",
    ).replaceAll("__NAME__", name),
  };
}

function formatJson(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
