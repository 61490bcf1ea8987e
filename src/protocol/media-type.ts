import type { Part } from "./message.ts";
import type { SendMessageConfiguration } from "./operation.ts";

/** The media type of a part's content; undefined for a file that does not say. */
export function getMediaType(part: Part): string | undefined {
  if (part.mediaType !== undefined) return part.mediaType;
  if ("text" in part) return "text/plain";
  return "data" in part ? "application/json" : undefined;
}

/** What cards of the first days say instead of media types. */
const LEGACY_MODES: Readonly<Record<string, string>> = {
  "*": "*/*",
  text: "text/*",
  data: "application/json",
  file: "*/*",
};

/** True when one of `modes` is the media type, or covers it as `image/*` does. Parameters and case do not count. */
export function matchesMediaType(modes: readonly string[], mediaType: string): boolean {
  const type = normalizeMediaType(mediaType);
  return modes.some((mode) => {
    const pattern = LEGACY_MODES[normalizeMediaType(mode)] ?? normalizeMediaType(mode);
    if (pattern === "*/*" || pattern === type) return true;
    return pattern.endsWith("/*") && type.startsWith(pattern.slice(0, -1));
  });
}

/** Whether whoever sent a request takes that media type in answers; who names none takes all (A2A §3.2.2). */
export function acceptsMediaType(
  { acceptedOutputModes }: Pick<SendMessageConfiguration, "acceptedOutputModes">,
  mediaType: string,
): boolean {
  return !acceptedOutputModes?.length || matchesMediaType(acceptedOutputModes, mediaType);
}

/** `Text/Plain; charset=utf-8` → `text/plain`. */
function normalizeMediaType(mediaType: string): string {
  return (mediaType.split(";", 1)[0] ?? "").trim().toLowerCase();
}
