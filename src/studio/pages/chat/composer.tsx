import type { VNode } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useHotkeys } from "../app/hotkeys.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { toSingleLine } from "../../../cards/index.ts";
import { getText, type JsonValue, type Part, toBase64 } from "../../../protocol/index.ts";
import { formatBytes } from "../parts/byte-format.ts";

interface ComposerProps {
  /** Parts with which the composer starts, for example of a message that the user sends again. */
  readonly initialParts: readonly Part[];
  readonly placeholder: string;
  readonly onSend: (parts: readonly Part[]) => void;
}

/** A file that the user attached. */
interface Attachment {
  readonly name: string;
  readonly size: number;
  readonly part: Part;
}

/** The field for a message: text, files, and data. Enter sends, and Shift+Enter starts a new line. */
export function Composer({ initialParts, placeholder, onSend }: ComposerProps): VNode {
  const [text, setText] = useState("");
  const [data, setData] = useState<string>();
  const [attachments, setAttachments] = useState<readonly Attachment[]>([]);
  const [problem, setProblem] = useState<string>();
  const field = useRef<HTMLTextAreaElement>(null);
  const fileField = useRef<HTMLInputElement>(null);
  const id = useId();
  useEffect(() => {
    if (initialParts.length === 0) return;
    setText(getText(initialParts));
    const initialData = initialParts.find((part) => "data" in part);
    setData(
      initialData !== undefined && "data" in initialData
        ? JSON.stringify(initialData.data, undefined, 2)
        : undefined,
    );
    setAttachments(
      initialParts
        .filter((part) => "raw" in part || "url" in part)
        .map((part) => ({
          name: part.filename ?? "file",
          size: "raw" in part ? (part.raw.length * 3) / 4 : 0,
          part,
        })),
    );
    field.current?.focus();
  }, [initialParts]);
  useHotkeys([{ keys: "i", label: "Write a message", run: () => field.current?.focus() }]);

  const send = (): void => {
    const parts: Part[] = [];
    if (text.trim() !== "") parts.push({ text });
    if (data !== undefined && data.trim() !== "") {
      try {
        parts.push({ data: JSON.parse(data) as JsonValue });
      } catch {
        setProblem("The data is not JSON.");
        return;
      }
    }
    parts.push(...attachments.map(({ part }) => part));
    if (parts.length === 0) return;
    onSend(parts);
    setText("");
    setData(undefined);
    setAttachments([]);
    setProblem(undefined);
  };
  const attach = async (files: FileList | null): Promise<void> => {
    const added = await Promise.all([...(files ?? [])].map(readAttachment));
    setAttachments([...attachments, ...added]);
    if (fileField.current) fileField.current.value = "";
  };
  return (
    <form
      class="composer"
      aria-label="Message"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void attach(event.dataTransfer?.files ?? null);
      }}
    >
      {attachments.length > 0 && (
        <ul class="attachments" aria-label="Files">
          {attachments.map(({ name, size }, index) => (
            <li key={index}>
              <AgentText text={name} /> <span class="soft">{formatBytes(size)}</span>
              <button
                type="button"
                class="quiet"
                aria-label={`Remove ${toSingleLine(name)}`}
                onClick={() => setAttachments(attachments.filter((_, position) => position !== index))}
              >
                ✕
              </button>
            </li>
          ))}
        </ul>
      )}
      {data !== undefined && (
        <label class="data-field">
          Data as JSON
          <textarea
            class="mono"
            rows={4}
            value={data}
            onInput={({ currentTarget }) => setData(currentTarget.value)}
          />
        </label>
      )}
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <div class="composer-row">
        <label for={id} class="screen-reader-only">
          Message
        </label>
        <textarea
          id={id}
          ref={field}
          rows={2}
          dir="auto"
          placeholder={placeholder}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={(event) => {
            // Enter also confirms a word of an input method, for example in Japanese.
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            send();
          }}
        />
        <input
          ref={fileField}
          type="file"
          multiple
          class="screen-reader-only"
          tabIndex={-1}
          aria-label="Files to attach"
          onChange={({ currentTarget }) => void attach(currentTarget.files)}
        />
        <button type="button" onClick={() => fileField.current?.click()}>
          Attach
        </button>
        <button
          type="button"
          aria-pressed={data !== undefined}
          onClick={() => setData(data === undefined ? "{}" : undefined)}
        >
          Data
        </button>
        <button class="primary">Send</button>
      </div>
    </form>
  );
}

async function readAttachment(file: File): Promise<Attachment> {
  const raw = toBase64(new Uint8Array(await file.arrayBuffer()));
  const mediaType = file.type === "" ? "application/octet-stream" : file.type;
  return { name: file.name, size: file.size, part: { raw, filename: file.name, mediaType } };
}
