import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { escapeControlCharacters } from "../../../cards/index.ts";
import type { RawPart } from "../../../protocol/index.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { formatBytes } from "./byte-format.ts";
import { Notice } from "./notice.tsx";

const MAX_SHOWN_TEXT_LENGTH = 100_000;

/** A file within a message or an artifact. HTML runs in a frame without scripts, forms, and network. */
export function FileView({ part }: { readonly part: RawPart }): VNode {
  const bytes = useMemo(() => decodeFileBytes(part), [part.raw]);
  const presentation = choosePresentation(part.mediaType);
  const name = part.filename ?? "file";
  if (bytes === undefined)
    return (
      <Notice tone="warn" title="The file cannot be decoded">
        <AgentText text={name} /> contains invalid base64.
      </Notice>
    );
  return (
    <figure class="file">
      <figcaption>
        <AgentText text={name} />
        <span class="soft">
          <AgentText text={part.mediaType ?? "unknown type"} /> · {formatBytes(bytes.length)}
        </span>
        <DownloadButton bytes={bytes} name={part.filename} />
      </figcaption>
      {presentation === "image" && <ImageView bytes={bytes} mediaType={part.mediaType ?? ""} name={name} />}
      {presentation === "html" && <HtmlView html={new TextDecoder().decode(bytes)} name={name} />}
      {presentation === "text" && <TextView text={new TextDecoder().decode(bytes)} />}
      {(presentation === "audio" || presentation === "video") && (
        <MediaView
          bytes={bytes}
          mediaType={part.mediaType ?? ""}
          isVideo={presentation === "video"}
          name={name}
        />
      )}
    </figure>
  );
}

/** Lets the browser save a file. */
export function saveFile(name: string | undefined, content: BlobPart): void {
  // The type keeps browsers from opening the file as a page of this origin.
  const url = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = chooseDownloadName(name);
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function DownloadButton({
  bytes,
  name,
}: {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly name: string | undefined;
}): VNode {
  return (
    <button type="button" onClick={() => saveFile(name, bytes)}>
      Download
    </button>
  );
}

function useObjectUrl(content: BlobPart, mediaType: string): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const created = URL.createObjectURL(new Blob([content], { type: mediaType }));
    setUrl(created);
    return () => URL.revokeObjectURL(created);
  }, [content, mediaType]);
  return url;
}

interface MediaProps {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mediaType: string;
  readonly name: string;
}

function ImageView({ bytes, mediaType, name }: MediaProps): VNode | null {
  const url = useObjectUrl(bytes, mediaType);
  return url === undefined ? null : <img src={url} alt={escapeControlCharacters(name)} />;
}

function MediaView({
  bytes,
  mediaType,
  name,
  isVideo,
}: MediaProps & { readonly isVideo: boolean }): VNode | null {
  const url = useObjectUrl(bytes, mediaType);
  const label = escapeControlCharacters(name);
  if (url === undefined) return null;
  return isVideo ? (
    <video src={url} controls aria-label={label} />
  ) : (
    <audio src={url} controls aria-label={label} />
  );
}

function HtmlView({ html, name }: { readonly html: string; readonly name: string }): VNode {
  const [isRendered, setIsRendered] = useState(false);
  return (
    <>
      <button type="button" aria-pressed={isRendered} onClick={() => setIsRendered(!isRendered)}>
        {isRendered ? "Show the source" : "Show the page, without scripts and network"}
      </button>
      {isRendered ? <SandboxedFrame html={html} name={name} /> : <TextView text={html} />}
    </>
  );
}

function SandboxedFrame({ html, name }: { readonly html: string; readonly name: string }): VNode | null {
  // A frame with a blob: URL inherits the policy of this page, as `srcdoc` does, but needs no trusted type.
  const url = useObjectUrl(html, "text/html");
  if (url === undefined) return null;
  return <iframe sandbox="" src={url} title={escapeControlCharacters(name)} referrerpolicy="no-referrer" />;
}

function TextView({ text }: { readonly text: string }): VNode {
  const shown = text.length > MAX_SHOWN_TEXT_LENGTH ? `${text.slice(0, MAX_SHOWN_TEXT_LENGTH)}…` : text;
  return (
    <pre class="plain-text" tabIndex={0}>
      {escapeControlCharacters(shown)}
    </pre>
  );
}

/** How the page shows the bytes of a file. */
type FilePresentation = "image" | "html" | "audio" | "video" | "text" | "download";

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
function choosePresentation(mediaType: string | undefined): FilePresentation {
  const type = (mediaType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (IMAGE_TYPES.has(type)) return "image";
  if (type === "text/html" || type === "application/xhtml+xml") return "html";
  if (type.startsWith("audio/")) return "audio";
  if (type.startsWith("video/")) return "video";
  return TEXT_TYPE_PATTERN.test(type) ? "text" : "download";
}

/** Decodes the bytes of a file. Returns `undefined` if the base64 text is invalid. */
function decodeFileBytes({ raw }: RawPart): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(raw);
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Returns a name for the download of a file: without folders and without control characters. */
function chooseDownloadName(name: string | undefined): string {
  const last = (name ?? "").split(/[\\/]/).at(-1) ?? "";
  const kept = last.replaceAll(/[\p{Control}\p{Format}]/gu, "").slice(-200);
  return kept.replace(/^\.+/, "") || "file";
}
