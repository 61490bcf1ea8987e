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
  const taken = new Set<string>();
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

const FILE_EXTENSIONS_BY_MEDIA_TYPE: Readonly<Record<string, string>> = {
  "text/plain": ".txt",
  "text/markdown": ".md",
  "text/html": ".html",
  "text/csv": ".csv",
  "application/json": ".json",
  "application/pdf": ".pdf",
  "image/png": ".png",
  "image/jpeg": ".jpg",
};

function chooseFileName(part: Exclude<Part, { url: string }>, { name, artifactId }: Artifact): string {
  const ownName = sanitizeFileName(part.filename ?? "");
  if (ownName !== "") return ownName;
  const base = sanitizeFileName(name ?? "") || sanitizeFileName(artifactId) || "artifact";
  return base.includes(".")
    ? base
    : base + (FILE_EXTENSIONS_BY_MEDIA_TYPE[getPartContent(part).mediaType] ?? ".bin");
}

/**
 * Sanitizes a file name that an agent chose. The sanitized name cannot leave the directory, is not hidden,
 * and contains no control characters.
 */
function sanitizeFileName(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? "";
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  const plain = last.replaceAll(/[\u0000-\u001f\u007f-\u009f<>:"|?*]/g, "_").replace(/^[.\s]+/, "");
  return Array.from(plain.trimEnd()).slice(0, 120).join("");
}

function makeUniqueName(name: string, taken: Set<string>): string {
  const dot = name.lastIndexOf(".");
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
  let free = name;
  // Compares in lower case, because some file systems do not distinguish Report.txt from report.txt.
  for (let next = 2; taken.has(free.toLowerCase()); next++) free = `${stem}-${next}${ending}`;
  taken.add(free.toLowerCase());
  return free;
}
