import type { Artifact, Part, Task } from "../../protocol/index.ts";

/** A file that `task download` creates from an artifact part. */
interface ArtifactFile {
  readonly name: string;
  readonly artifactId: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** A link to external content. The command never fetches the URL, because the agent chose the URL. */
interface ExternalArtifactLink {
  readonly artifactId: string;
  readonly url: string;
}

/**
 * Returns the files for all artifacts of a task. The file names are unique and cannot leave the target
 * directory.
 */
export function collectArtifactFiles({ artifacts = [] }: Pick<Task, "artifacts">): {
  files: ArtifactFile[];
  links: ExternalArtifactLink[];
} {
  const taken = new Map<string, number>();
  const files: ArtifactFile[] = [];
  const links: ExternalArtifactLink[] = [];
  for (const artifact of artifacts) {
    for (const part of artifact.parts) {
      const { artifactId } = artifact;
      if ("url" in part) links.push({ artifactId, url: part.url });
      else
        files.push({
          artifactId,
          ...getPartContent(part),
          name: makeUniqueName(chooseFileName(part, artifact), taken),
        });
    }
  }
  return { files, links };
}

function getPartContent(part: Exclude<Part, { url: string }>): Pick<ArtifactFile, "bytes" | "mediaType"> {
  if ("raw" in part) {
    return {
      bytes: Buffer.from(part.raw, "base64"),
      mediaType: part.mediaType ?? "application/octet-stream",
    };
  }
  const [text, usual] =
    "text" in part
      ? [part.text, "text/plain"]
      : [`${JSON.stringify(part.data, null, 2)}\n`, "application/json"];
  return { bytes: Buffer.from(text), mediaType: part.mediaType ?? usual };
}

const FILE_EXTENSIONS_BY_MEDIA_TYPE: ReadonlyMap<string, string> = new Map([
  ["text/plain", ".txt"],
  ["text/markdown", ".md"],
  ["text/html", ".html"],
  ["text/csv", ".csv"],
  ["application/json", ".json"],
  ["application/pdf", ".pdf"],
  ["image/png", ".png"],
  ["image/jpeg", ".jpg"],
]);

function chooseFileName(part: Exclude<Part, { url: string }>, { name, artifactId }: Artifact): string {
  const ownName = sanitizeFileName(part.filename ?? "");
  if (ownName !== "") return ownName;
  const base = sanitizeFileName(name ?? "") || sanitizeFileName(artifactId) || "artifact";
  return base.includes(".")
    ? base
    : base + (FILE_EXTENSIONS_BY_MEDIA_TYPE.get(getPartContent(part).mediaType) ?? ".bin");
}

/** Maximum length of a file name in UTF-8. File systems allow 255 bytes, with the number that makes a name unique. */
const MAX_FILE_NAME_BYTES = 200;

/** Characters that Windows reserves, control characters, and invisible characters that could hide an extension. */
const FORBIDDEN_CHARACTERS =
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff<>:"|?*]/g;

/** Device names of Windows, which name no file whatever their extension is. */
const RESERVED_NAMES = /^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³]|conin\$|conout\$)\s*(?:\.|$)/i;

/**
 * Sanitizes a file name that an agent chose. The sanitized name cannot leave the directory, is not hidden, is no
 * option of a command, names no device of Windows, and contains no control characters.
 */
function sanitizeFileName(name: string): string {
  const last = name.toWellFormed().split(/[\\/]/).at(-1) ?? "";
  const plain = last.replaceAll(FORBIDDEN_CHARACTERS, "_").replace(/^[-.\s~]+/, "");
  const short = truncateToBytes(plain, MAX_FILE_NAME_BYTES);
  const ended = short.replace(/(?<![.\s])[.\s]+$/, "");
  return RESERVED_NAMES.test(ended) ? `_${ended}` : ended;
}

function truncateToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  let bytes = 0;
  let kept = "";
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxBytes) break;
    kept += character;
  }
  return kept;
}

/**
 * Returns a name that no earlier file has. `taken` contains the names so far, each with the number that the next
 * file of that name receives.
 */
function makeUniqueName(name: string, taken: Map<string, number>): string {
  const dot = name.lastIndexOf(".");
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
  // Compares in lower case, because some file systems do not distinguish Report.txt from report.txt.
  const key = name.toLowerCase();
  let next = taken.get(key) ?? 1;
  let free = name;
  for (; taken.has(free.toLowerCase()); free = `${stem}-${next}${ending}`) next++;
  taken.set(free.toLowerCase(), 1);
  taken.set(key, next);
  return free;
}
