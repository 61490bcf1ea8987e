import { existsSync, readFileSync, realpathSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { Command, Option } from "commander";
import type { CliContext } from "./cli-context.ts";
import { createUsageError } from "./cli-error.ts";
import { createOutputOption } from "./client-options.ts";
import { quoteShellWord } from "./format-colloquy-command.ts";
import { buildTemplateFiles, TEMPLATE_NAMES, type TemplateName } from "./init/template-files.ts";
import { type OutputFormat, OutputWriter } from "./output-writer.ts";
import { getPackageFolder } from "./package-version.ts";
import { toUrlSafeAgentId } from "./serve/find-agent-files.ts";

interface InitOptions {
  name?: string;
  template?: TemplateName;
  output: OutputFormat;
}

export function createInitCommand(context: CliContext): Command {
  return new Command("init")
    .argument("[directory]", "directory of the project; created if missing", ".")
    .option("--name <id>", "name of the agent (default: the directory's name)")
    .addOption(
      new Option("--template <template>", "kind of the project (default: a single agent)").choices(
        TEMPLATE_NAMES,
      ),
    )
    .addOption(createOutputOption().env("A2ACLI_OUTPUT"))
    .action((directory: string, options: InitOptions) => runInit(directory, options, context));
}

async function runInit(
  directory: string,
  { name, template, output: format }: InitOptions,
  context: CliContext,
): Promise<void> {
  const root = resolve(context.cwd, directory);
  const projectName = toUrlSafeAgentId(name ?? basename(root)).toLowerCase();
  const dependency = findInstallableDependency();
  const files =
    template === undefined
      ? buildProjectFiles(projectName, dependency)
      : buildTemplateFiles(template, projectName, dependency);
  // A folder of a new repository often has a README.
  if (existsSync(join(root, "README.md"))) delete files["README.md"];
  const existing = Object.keys(files).filter((file) => existsSync(join(root, file)));
  if (existing.length > 0) {
    const message = `${root} already has ${existing.join(", ")}. Nothing was overwritten.`;
    throw createUsageError(message, "colloquy init another-directory");
  }
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    // The flag `wx` never overwrites a file, even if it was created since the check above.
    await writeFile(join(root, file), text, { flag: "wx" });
  }
  const output = new OutputWriter(context.streams, format);
  output.writeResult(
    { directory: root, files: Object.keys(files) },
    { Directory: root, Files: Object.keys(files).join(", ") },
  );
  const relativePath = relative(context.cwd, root);
  const shownPath = relativePath.startsWith("..") ? root : relativePath;
  output.writeHint(
    `${shownPath === "" ? "" : `cd ${quoteShellWord(shownPath)} && `}npm install && npm run dev`,
  );
}

/**
 * Returns the files of a minimal agent project by file path. `dependency` is the version range or the address
 * of Colloquy in package.json.
 */
function buildProjectFiles(name: string, dependency: string): Record<string, string> {
  return {
    "package.json": formatJson({
      name,
      version: "0.1.0",
      private: true,
      type: "module",
      engines: { node: ">=22.18" },
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

/** The parts of package.json and of npm's lock file that determine a dependency. */
interface PackageManifest {
  readonly version?: string;
  readonly packages?: Readonly<Record<string, { readonly resolved?: string }>>;
}

/**
 * Returns the value for `dependencies` in package.json that installs the running copy of Colloquy. The value is a
 * version range if npm installed the running copy from a registry. For a tarball, the value is its address. Without
 * npm's lock file, which global installations and other tools do not write, the value is a version range if the
 * running copy is in `node_modules`. For a clone, the value is the address of its tarball, or its path if
 * `npm run lab -- package` has not created the tarball.
 */
export function findInstallableDependency(packageFolder: string = getPackageFolder()): string {
  const { version } = readManifest(join(packageFolder, "package.json"));
  const modulesFolder = dirname(packageFolder);
  const lock = readManifest(join(modulesFolder, ".package-lock.json"));
  const resolved = lock.packages?.["node_modules/colloquy"]?.resolved;
  if (resolved === undefined) {
    if (isInNodeModules(packageFolder)) return `^${version}`;
    // npm links a folder, and a linked copy would use the peer packages of the clone instead of those of the project.
    const tarball = join(packageFolder, `reports/package/colloquy-${version}.tgz`);
    return toFileAddress(existsSync(tarball) ? tarball : packageFolder);
  }
  if (/^https?:.*\/-\/colloquy-[^/]+\.tgz$/.test(resolved)) return `^${version}`;
  if (!resolved.startsWith("file:")) return resolved;
  // npm writes paths relative to the folder that contains node_modules.
  return toFileAddress(resolve(dirname(modulesFolder), resolved.slice("file:".length)));
}

/** Returns whether a folder is in `node_modules`, also without symbolic links, which `npm link` creates. */
function isInNodeModules(folder: string): boolean {
  return basename(dirname(realpathSync(folder))) === "node_modules";
}

function readManifest(file: string): PackageManifest {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as PackageManifest;
  } catch {
    return {};
  }
}

function toFileAddress(path: string): string {
  return `file:${path.replaceAll("\\", "/")}`;
}
