import type { RawPart, UrlPart } from "../protocol/index.ts";

/** Returns the address of a file, which is a data URL if the part contains the file. */
export function toFileUrl(file: RawPart | UrlPart): string {
  if ("url" in file) return file.url;
  return `data:${file.mediaType ?? "application/octet-stream"};base64,${file.raw}`;
}
