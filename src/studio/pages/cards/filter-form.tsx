import type { RefObject, VNode } from "preact";
import { useMemo } from "preact/hooks";
import { toSingleLine } from "../../../cards/index.ts";
import { type CardFilter, findCardStatusOrErrorType, listRolesInCards } from "./model/sample-summary.ts";
import { EMPTY_FILTER, type RunWithStatistics } from "./run-view.ts";

const OUTCOME_LABELS: Readonly<Record<CardFilter["outcome"], string>> = {
  "": "any outcome",
  correct: "correct",
  wrong: "wrong",
  unscored: "not scored",
  errors: "with errors",
  partial: "partial",
};

type FilterSelect = readonly [
  name: Exclude<keyof CardFilter, "text">,
  choices: readonly (readonly [value: string, label: string])[],
];

interface FilterFormProps {
  readonly run: RunWithStatistics;
  readonly filter: CardFilter;
  readonly onChange: (filter: CardFilter) => void;
  /** Called when the user leaves the search field for the list of problems. */
  readonly onLeave: () => void;
  readonly searchInput: RefObject<HTMLInputElement | null>;
}

/** Filter form above the list of problems. */
export function FilterForm({ run, filter, onChange, onLeave, searchInput }: FilterFormProps): VNode {
  // The model changes in place. The object `run` is new after each change.
  const selects = useMemo(() => listFilterSelects(run), [run]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" && !(event.key === "ArrowDown" && event.target === searchInput.current))
      return;
    event.preventDefault();
    if (event.key === "Escape") onChange(EMPTY_FILTER);
    onLeave();
  };
  return (
    <form
      role="search"
      class="card-filters"
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={onKeyDown}
    >
      <input
        ref={searchInput}
        type="search"
        id="search"
        placeholder="Filter by id or text"
        aria-label="Filter by id or text"
        autocomplete="off"
        spellcheck={false}
        value={filter.text}
        onInput={({ currentTarget }) => onChange({ ...filter, text: currentTarget.value })}
      />
      <div class="selects">
        {selects.map(([name, choices]) => (
          <select
            key={name}
            name={name}
            aria-label={`Filter by ${name}`}
            value={filter[name]}
            onInput={({ currentTarget }) => onChange({ ...filter, [name]: currentTarget.value })}
          >
            {choices.map(([value, label]) => (
              <option key={value} value={value}>
                {toSingleLine(label)}
              </option>
            ))}
          </select>
        ))}
      </div>
    </form>
  );
}

function listChoices(anyLabel: string, values: Iterable<string>): (readonly [string, string])[] {
  return [["", anyLabel], ...[...values].map((value) => [value, value] as const)];
}

/** Returns the choices of each select element. They are the values that occur in the run. */
function listFilterSelects({ model }: RunWithStatistics): FilterSelect[] {
  const cards = model.samples.flatMap((sample) => sample.cards);
  const types = new Set(cards.map((card) => card.message_type));
  const statuses = new Set(cards.flatMap((card) => findCardStatusOrErrorType(card) ?? []));
  return [
    ["outcome", Object.entries(OUTCOME_LABELS)],
    ["role", listChoices("any role", listRolesInCards(cards))],
    ["type", listChoices("any type", types)],
    ["status", listChoices("any status", statuses)],
  ];
}
