import type { Part } from "./message.ts";
import type { SendMessageConfiguration } from "./operation.ts";

/** Returns the media type of a part's content, or `undefined` for a file without a media type. */
export function getMediaType(part: Part): string | undefined {
  if (part.mediaType !== undefined) return part.mediaType;
  if ("text" in part) return "text/plain";
  return "data" in part ? "application/json" : undefined;
}

/** Legacy mode names that early agent cards use instead of media types. */
const LEGACY_MODES: ReadonlyMap<string, string> = new Map([
  ["*", "*/*"],
  ["text", "text/*"],
  ["data", "application/json"],
  ["file", "*/*"],
]);

/**
 * Returns true if one of `modes` equals the media type or covers the media type with a wildcard such as
 * `image/*`. The comparison of media types ignores parameters and letter case.
 */
export function matchesMediaType(modes: readonly string[], mediaType: string): boolean {
  if (modes.includes(mediaType)) return true;
  const type = normalizeMediaType(mediaType);
  return modes.some((mode) => {
    const pattern = LEGACY_MODES.get(normalizeMediaType(mode)) ?? normalizeMediaType(mode);
    if (pattern === "*/*" || pattern === type) return true;
    return pattern.endsWith("/*") && type.startsWith(pattern.slice(0, -1));
  });
}

/**
 * Returns true if the request accepts responses with the media type `mediaType`. A request without
 * `acceptedOutputModes` accepts every media type (A2A §3.2.2).
 */
export function acceptsMediaType(
  { acceptedOutputModes }: Pick<SendMessageConfiguration, "acceptedOutputModes">,
  mediaType: string,
): boolean {
  return !acceptedOutputModes?.length || matchesMediaType(acceptedOutputModes, mediaType);
}

/** Normalizes a media type, for example `Text/Plain; charset=utf-8` to `text/plain`. */
function normalizeMediaType(mediaType: string): string {
  return (mediaType.split(";", 1)[0] ?? "").trim().toLowerCase();
}
