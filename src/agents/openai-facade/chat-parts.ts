import { isObject, isThought, getMediaType, type Part } from "../../protocol/index.ts";

/** Records a violation in one field of a request. */
export type RequestFieldViolationReporter = (field: string, description: string) => undefined;

/** Decodes the content of a chat message into A2A parts: text, images, audio, and files. */
export function decodeContent(
  content: unknown,
  field: string,
  reportViolation: RequestFieldViolationReporter,
): Part[] {
  if (typeof content === "string") return [{ text: content }];
  if (content === null || content === undefined) return [];
  if (!Array.isArray(content)) {
    reportViolation(field, "is neither a string nor a list of parts");
    return [];
  }
  return content.flatMap(
    (part: unknown, index) => decodeContentPart(part, `${field}[${index}]`, reportViolation) ?? [],
  );
}

function decodeContentPart(
  part: unknown,
  field: string,
  reportViolation: RequestFieldViolationReporter,
): Part | undefined {
  const { type } = isObject(part) ? part : {};
  const decode =
    typeof type === "string" && Object.hasOwn(PART_DECODERS, type) ? PART_DECODERS[type] : undefined;
  if (!decode || !isObject(part)) {
    return reportViolation(`${field}.type`, `is not one of ${Object.keys(PART_DECODERS).join(", ")}`);
  }
  const decoded = decode(part);
  return typeof decoded === "string" ? reportViolation(field, decoded) : decoded;
}

/** Decoders by content type. A decoder returns a part, or a description of the violation. */
const PART_DECODERS: Readonly<Record<string, (part: Record<string, unknown>) => Part | string>> = {
  text: ({ text }) => (typeof text === "string" ? { text } : "has no text"),
  refusal: ({ refusal }) => (typeof refusal === "string" ? { text: refusal } : "has no refusal"),
  image_url({ image_url }) {
    const url = isObject(image_url) ? image_url["url"] : undefined;
    return (
      (typeof url === "string" && parseUrlPart(url)) || "has no image_url.url with a data: or an http(s): URL"
    );
  },
  input_audio({ input_audio }) {
    const { data, format } = isObject(input_audio) ? input_audio : {};
    if (typeof data !== "string" || (format !== "wav" && format !== "mp3"))
      return "needs input_audio.data and a format, wav or mp3";
    return { raw: data, mediaType: format === "wav" ? "audio/wav" : "audio/mpeg" };
  },
  file({ file }) {
    const { file_data, filename } = isObject(file) ? file : {};
    const decoded = typeof file_data === "string" ? parseUrlPart(file_data) : undefined;
    if (!decoded || !("raw" in decoded))
      return "needs file.file_data as a data: URL; uploaded files are not supported";
    return typeof filename === "string" ? { ...decoded, filename } : decoded;
  },
};

const DATA_URL_PATTERN = /^data:([^;,]*)(?:;[^;,]*)*;base64,([A-Za-z0-9+/]*={0,2})$/;

function parseUrlPart(url: string): Part | undefined {
  const [, mediaType, raw] = DATA_URL_PATTERN.exec(url) ?? [];
  if (raw !== undefined) return { raw, ...(mediaType ? { mediaType } : {}) };
  const { protocol } = URL.parse(url) ?? {};
  return protocol === "https:" || protocol === "http:" ? { url } : undefined;
}

/**
 * Renders the parts of an answer as text. Files become links, or file names if they have no URL. The text
 * omits data parts and thoughts.
 */
export function renderPartsAsText(parts: readonly Part[]): string {
  return parts
    .map((part) =>
      "data" in part || isThought(part.metadata) ? "" : "text" in part ? part.text : renderFileLink(part),
    )
    .join("");
}

/** Renders data parts as JSON code blocks, for answers without text. */
export function renderDataAsText(parts: readonly Part[]): string {
  const blocks = parts.flatMap((part) => ("data" in part ? [JSON.stringify(part.data, null, 2)] : []));
  return blocks.map((json) => `\`\`\`json\n${json}\n\`\`\``).join("\n");
}

function renderFileLink(part: Exclude<Part, { text: string } | { data: unknown }>): string {
  const type = getMediaType(part);
  const name = (part.filename ?? type ?? "file").replaceAll(/[[\]\s]+/g, " ");
  if (!("url" in part)) return `\n[${name}]\n`;
  return `\n${type?.startsWith("image/") ? "!" : ""}[${name}](<${part.url.replaceAll(/[<>\s]/g, "")}>)\n`;
}
