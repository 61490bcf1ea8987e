import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { listLinkedSourceFiles, repositoryRoot } from "./site-pages.ts";

/** A page of the site that shows a source file, or lists the files of a folder. */
interface SourcePage {
  readonly params: { readonly file: string };
  /** The Markdown of the page. */
  readonly content: string;
}

/** Languages of the highlighter by the end of a file name. */
const LANGUAGES: Readonly<Record<string, string>> = {
  Dockerfile: "docker",
  ".ts": "ts",
  ".tsx": "tsx",
  ".json": "json",
  ".yaml": "yaml",
  ".yml": "yaml",
  ".service": "ini",
  ".html": "html",
  ".css": "css",
  ".md": "md",
  ".jsonl": "json",
};

function readSource(file: string): string {
  return readFileSync(join(repositoryRoot, file), "utf8");
}

export function createSourcePages(): SourcePage[] {
  return listLinkedSourceFiles(readSource).map((file) => ({
    params: { file },
    content: statSync(join(repositoryRoot, file)).isDirectory()
      ? renderFolder(file)
      : renderFile(file, readSource(file)),
  }));
}

function renderFolder(folder: string): string {
  const files = globSync("**/*.*", { cwd: join(repositoryRoot, folder) })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => statSync(join(repositoryRoot, folder, file)).isFile())
    .toSorted();
  const items = files.map((file) => `- [${file}](/source/${folder}/${file}.html)`);
  return `# ${folder}\n\nFiles of this folder in the repository:\n\n${items.join("\n")}\n`;
}

function renderFile(file: string, text: string): string {
  const ending = Object.keys(LANGUAGES).find((end) => file.endsWith(end));
  const fence = "`".repeat(Math.max(3, ...(text.match(/`{3,}/g) ?? []).map(({ length }) => length + 1)));
  return `# ${file}\n\n${fence}${ending === undefined ? "txt" : LANGUAGES[ending]}\n${text.trimEnd()}\n${fence}\n`;
}
