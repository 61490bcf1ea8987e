import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { getPackageFolder } from "../package-version.ts";

export type TemplateName = "hono" | "workers" | "next" | "vite-react" | "adk";

/**
 * The templates of `colloquy init`, with the folders of `templates/` that they consist of. The value of a folder is the
 * path of its files in the new project.
 */
const TEMPLATE_FOLDERS: Readonly<Record<TemplateName, Readonly<Record<string, string>>>> = {
  hono: { hono: "", "shared-project": "", "shared-agent": "", "shared-vanilla": "", "shared-page": "page" },
  workers: {
    workers: "",
    "shared-project": "",
    "shared-agent": "",
    "shared-vanilla": "",
    "shared-page": "page",
  },
  next: { next: "", "shared-project": "", "shared-agent": "", "shared-react": "app", "shared-page": "app" },
  "vite-react": {
    "vite-react": "",
    "shared-project": "",
    "shared-agent": "",
    "shared-react": "src",
    "shared-page": "src",
  },
  adk: { adk: "", "shared-project": "" },
};

export const TEMPLATE_NAMES: readonly TemplateName[] = Object.keys(TEMPLATE_FOLDERS) as TemplateName[];

/** The style sheet of a vanilla page is not bundled, so it belongs to the served files. */
const MOVED_FILES: Readonly<Record<string, string>> = {
  gitignore: ".gitignore",
  "page/style.css": "public/style.css",
};

/**
 * Returns the files of a template by file path. `dependency` is the version range or the address of Colloquy in
 * package.json.
 */
export function buildTemplateFiles(
  template: TemplateName,
  name: string,
  dependency: string,
  templatesFolder: string = join(getPackageFolder(), "templates"),
): Record<string, string> {
  const files: Record<string, string> = {};
  for (const [folder, target] of Object.entries(TEMPLATE_FOLDERS[template])) {
    const source = join(templatesFolder, folder);
    for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = join(entry.parentPath, entry.name);
      const path = join(target, relative(source, file)).replaceAll("\\", "/");
      files[MOVED_FILES[path] ?? path] = readFileSync(file, "utf8")
        .replaceAll("__NAME__", name)
        .replaceAll("__ADK_NAME__", toIdentifier(name))
        .replaceAll("__COLLOQUY__", dependency);
    }
  }
  return files;
}

/** ADK accepts only identifiers as names of agents. */
function toIdentifier(name: string): string {
  return name.replaceAll(/\W/g, "_").replace(/^(?=\d)/, "_");
}
