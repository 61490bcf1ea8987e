import type { RawPart } from "../../../protocol/index.ts";

/** How the page shows the bytes of a file. */
export type FilePresentation = "image" | "html" | "audio" | "video" | "text" | "download";

/** Media types of images. An SVG image in an `<img>` runs no scripts, and loads nothing. */
const IMAGE_TYPES: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/avif",
  "image/svg+xml",
]);
const TEXT_TYPE_PATTERN =
  /^text\/|^application\/(?:json|xml|yaml|x-yaml|javascript|toml)$|\+(?:json|xml|yaml)$/;

/** Chooses the presentation of a media type. Unknown types are offered for download. */
export function choosePresentation(mediaType: string | undefined): FilePresentation {
  const type = (mediaType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (IMAGE_TYPES.has(type)) return "image";
  if (type === "text/html" || type === "application/xhtml+xml") return "html";
  if (type.startsWith("audio/")) return "audio";
  if (type.startsWith("video/")) return "video";
  return TEXT_TYPE_PATTERN.test(type) ? "text" : "download";
}

/** Decodes the bytes of a file. Returns `undefined` if the base64 text is invalid. */
export function decodeFileBytes({ raw }: RawPart): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(raw);
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Returns a name for the download of a file: without folders and without control characters. */
export function chooseDownloadName(name: string | undefined): string {
  const last = (name ?? "").split(/[\\/]/).at(-1) ?? "";
  const kept = last.replaceAll(/[\p{Control}\p{Format}]/gu, "").slice(-200);
  return kept.replace(/^\.+/, "") || "file";
}
