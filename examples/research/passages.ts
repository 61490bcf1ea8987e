/** Reads a folder of Markdown and text files and splits them into passages at their headings. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export interface Passage {
  /** Path of the file relative to the folder. */
  document: string;
  /** First heading of the file, or its name. */
  title: string;
  /** Heading above the passage. */
  heading: string;
  text: string;
}

const MAX_FILE_BYTES = 1024 * 1024;

/** Returns all passages of the `.md`, `.markdown`, and `.txt` files in a folder, sorted by path. */
export async function readPassages(folder: string): Promise<Passage[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && /\.(md|markdown|txt)$/i.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted();
  const passages: Passage[] = [];
  for (const file of files) {
    const bytes = await readFile(file);
    if (bytes.length > MAX_FILE_BYTES) process.stderr.write(`Skipped ${file}: it is larger than 1 MiB.\n`);
    else
      passages.push(
        ...splitIntoPassages(file.slice(folder.length).replace(/^[/\\]+/, ""), bytes.toString("utf8")),
      );
  }
  return passages;
}

function splitIntoPassages(document: string, content: string): Passage[] {
  const title = /^#\s+(.+)$/m.exec(content)?.[1]?.trim() ?? document;
  return content
    .split(/^(?=#{1,6}\s)/m)
    .map((section) => {
      const [, heading = title, text = section] = /^#{1,6}\s+(.+)\n?([^]*)$/.exec(section) ?? [];
      return { document, title, heading: heading.trim(), text: text.trim() };
    })
    .filter(({ text }) => text !== "");
}
