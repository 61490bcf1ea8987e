/**
 * `npm run api` writes a report of each package entry's public types to `api/`, from the declarations in `dist/`.
 * `npm run api -- --check` fails when a report no longer matches, so that every change of an entry shows in review.
 */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Extractor, ExtractorConfig } from "@microsoft/api-extractor";

const repositoryRoot = fileURLToPath(new URL("..", import.meta.url));
const apiReportFolder = join(repositoryRoot, "api");
const isCheckMode = process.argv.includes("--check");
const { exports } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8")) as {
  exports: Record<string, string | { types: string }>;
};

/** Renders the report of one entry. Types that an exported type mentions without being exported are left out. */
function renderApiReport(name: string, declarations: string, temporary: string): string {
  const config = ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(repositoryRoot, "package.json"),
    configObject: {
      projectFolder: repositoryRoot,
      mainEntryPointFilePath: join(repositoryRoot, declarations),
      compiler: {
        skipLibCheck: true,
        overrideTsconfig: {
          compilerOptions: {
            target: "es2022",
            lib: ["es2023", "dom"],
            module: "nodenext",
            types: ["node"],
            strict: true,
            skipLibCheck: true,
          },
          files: [join(repositoryRoot, declarations)],
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: `${name}.api.md`,
        reportFolder: temporary,
        reportTempFolder: temporary,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: "none" as never } },
        extractorMessageReporting: { default: { logLevel: "none" as never } },
        tsdocMessageReporting: { default: { logLevel: "none" as never } },
      },
    },
  });
  Extractor.invoke(config, {
    localBuild: true,
    messageCallback: (message) => {
      message.handled = true;
    },
  });
  return readFileSync(join(temporary, `${name}.api.md`), "utf8").replaceAll("\r\n", "\n");
}

const temporaryReportFolder = mkdtempSync(join(tmpdir(), "colloquy-api-"));
const staleReportFiles: string[] = [];
const removedReportFiles = new Set(globSync("*.api.md", { cwd: apiReportFolder }));
mkdirSync(apiReportFolder, { recursive: true });
try {
  for (const [path, target] of Object.entries(exports)) {
    if (typeof target === "string") continue;
    const name = path === "." ? "colloquy" : path.slice(2).replaceAll("/", "-");
    removedReportFiles.delete(`${name}.api.md`);
    const report = renderApiReport(name, target.types, temporaryReportFolder);
    const file = join(apiReportFolder, `${name}.api.md`);
    if (!isCheckMode) writeFileSync(file, report);
    else if (readApiReportIfPresent(file) !== report) staleReportFiles.push(`api/${name}.api.md`);
  }
} finally {
  rmSync(temporaryReportFolder, { recursive: true });
}
for (const file of removedReportFiles)
  if (isCheckMode) staleReportFiles.push(`api/${file}`);
  else rmSync(join(apiReportFolder, file));
if (staleReportFiles.length > 0) {
  console.error(
    `error: the public types have changed; run npm run api and review ${staleReportFiles.join(", ")}`,
  );
  process.exitCode = 1;
}

function readApiReportIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
