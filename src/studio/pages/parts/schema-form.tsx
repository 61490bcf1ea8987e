import type { VNode } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { JsonObject } from "../../../protocol/index.ts";
import { toSingleLine } from "../../../cards/index.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { formatJson } from "./json-text.ts";
import { type FieldEntry, readForm, type SchemaField } from "./schema-fields.ts";

interface SchemaFormProps {
  readonly fields: readonly SchemaField[];
  readonly submitLabel: string;
  readonly isDisabled?: boolean;
  readonly onSubmit: (value: JsonObject) => void;
}

/** A form made from the fields of a JSON Schema. */
export function SchemaForm({ fields, submitLabel, isDisabled = false, onSubmit }: SchemaFormProps): VNode {
  const [entries, setEntries] = useState<Readonly<Record<string, FieldEntry>>>(() =>
    createInitialEntries(fields),
  );
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const form = useRef<HTMLFormElement>(null);
  const problemCount = Object.keys(problems).length;
  // The first invalid field can be above the visible part of the form.
  useEffect(() => {
    form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [problems]);
  const submit = (event: Event): void => {
    event.preventDefault();
    const read = readForm(fields, entries);
    if ("problems" in read) setProblems(read.problems);
    else {
      setProblems({});
      onSubmit(read.value);
    }
  };
  return (
    <form ref={form} class="schema-form" onSubmit={submit} noValidate>
      {fields.map((field) => (
        <SchemaFieldInput
          key={field.name}
          field={field}
          entry={Object.hasOwn(entries, field.name) ? entries[field.name] : undefined}
          problem={Object.hasOwn(problems, field.name) ? problems[field.name] : undefined}
          onChange={(entry) => setEntries({ ...entries, [field.name]: entry })}
        />
      ))}
      <button class="primary" disabled={isDisabled}>
        {submitLabel}
      </button>
      {problemCount > 0 && (
        <p class="problem" role="alert">
          {problemCount === 1 ? "One field is not valid." : `${problemCount} fields are not valid.`}
        </p>
      )}
    </form>
  );
}

function createInitialEntries(fields: readonly SchemaField[]): Readonly<Record<string, FieldEntry>> {
  return Object.fromEntries(fields.map((field) => [field.name, toInitialEntry(field)]));
}

function toInitialEntry({ input, initial }: SchemaField): FieldEntry {
  if (input.type === "choices") return [];
  if (input.type === "checkbox") return initial === true;
  if (initial === undefined) return "";
  if (input.type === "choice") return String(input.options.findIndex(({ value }) => value === initial));
  return typeof initial === "string" && input.type === "text" ? initial : formatJson(initial);
}

interface FieldInputProps {
  readonly field: SchemaField;
  readonly entry: FieldEntry | undefined;
  readonly problem: string | undefined;
  readonly onChange: (entry: FieldEntry) => void;
}

function SchemaFieldInput({ field, entry, problem, onChange }: FieldInputProps): VNode {
  const id = useId();
  const { title, description, isRequired, input } = field;
  const describedBy = problem === undefined && description === undefined ? undefined : `${id}-note`;
  const common = {
    id,
    required: isRequired,
    "aria-describedby": describedBy,
    "aria-invalid": problem === undefined ? undefined : true,
  } as const;
  return (
    <div class={input.type === "checkbox" ? "field has-checkbox" : "field"}>
      {input.type === "choices" ? (
        <span id={id}>
          <AgentText text={title} />
        </span>
      ) : (
        <label for={id}>
          <AgentText text={title} />
          {isRequired && <span class="soft"> (required)</span>}
        </label>
      )}
      {renderInput(input, entry, onChange, common)}
      {describedBy !== undefined && (
        <p id={describedBy} class={problem === undefined ? "soft" : "problem"}>
          <AgentText text={problem ?? description ?? ""} />
        </p>
      )}
    </div>
  );
}

interface CommonInputProps {
  readonly id: string;
  readonly required: boolean;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": true | undefined;
}

function renderInput(
  input: SchemaField["input"],
  entry: FieldEntry | undefined,
  onChange: (entry: FieldEntry) => void,
  common: CommonInputProps,
): VNode {
  const text = typeof entry === "string" ? entry : "";
  const onInput = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }): void =>
    onChange(currentTarget.value);
  switch (input.type) {
    case "checkbox":
      return (
        <input
          {...common}
          type="checkbox"
          checked={entry === true}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
      );
    case "number":
      return <input {...common} inputMode="decimal" value={text} onInput={onInput} />;
    case "text":
      return input.isLong ? (
        <textarea {...common} rows={4} value={text} onInput={onInput} />
      ) : (
        // The JSX types have one type per kind of input, and refuse a choice between kinds.
        <input
          {...common}
          {...({ type: input.htmlType } as { type: "text" })}
          value={text}
          onInput={onInput}
        />
      );
    case "choice":
      return (
        <select {...common} value={text} onChange={onInput}>
          <option value="">–</option>
          {input.options.map(({ title }, index) => (
            <option key={index} value={index}>
              {toSingleLine(title)}
            </option>
          ))}
        </select>
      );
    case "choices": {
      const chosen = Array.isArray(entry) ? (entry as readonly number[]) : [];
      return (
        <div role="group" aria-labelledby={common.id} class="choices">
          {input.options.map(({ title }, index) => (
            <label key={index}>
              <input
                type="checkbox"
                checked={chosen.includes(index)}
                onChange={({ currentTarget }) =>
                  onChange(currentTarget.checked ? [...chosen, index] : chosen.filter((one) => one !== index))
                }
              />{" "}
              <AgentText text={title} />
            </label>
          ))}
        </div>
      );
    }
    case "json":
      break;
  }
  return <textarea {...common} rows={4} class="mono" placeholder="JSON" value={text} onInput={onInput} />;
}
