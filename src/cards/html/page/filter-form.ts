import type { CardFilter } from "../card-filter.ts";
import { listRolesInCards } from "../run-statistics.ts";
import type { RunModel } from "../run-model.ts";
import { findCardStatusOrErrorType } from "../sample-summary.ts";
import { createElement } from "./dom.ts";

const OUTCOME_OPTIONS = [
  ["", "any outcome"],
  ["correct", "correct"],
  ["wrong", "wrong"],
  ["unscored", "not scored"],
  ["errors", "with errors"],
  ["partial", "partial"],
] as const;

/** Filter form above the list of problems. Calls `onchange` when the user changes a filter criterion. */
export class FilterForm {
  readonly element: HTMLFormElement;
  readonly searchInput: HTMLInputElement;
  readonly #selects: Readonly<Record<"outcome" | "role" | "type" | "status", HTMLSelectElement>>;

  constructor(onchange: () => void) {
    this.searchInput = createElement("input", {
      type: "search",
      id: "search",
      placeholder: "Filter by id or text",
      "aria-label": "Filter by id or text",
      autocomplete: "off",
      spellcheck: "false",
    });
    this.#selects = {
      outcome: createSelect("outcome"),
      role: createSelect("role"),
      type: createSelect("type"),
      status: createSelect("status"),
    };
    this.element = createElement(
      "form",
      {
        role: "search",
        class: "filters",
        oninput: onchange,
        onsubmit: (event: Event) => event.preventDefault(),
      },
      this.searchInput,
      createElement("div", { class: "selects" }, ...Object.values(this.#selects)),
    );
    setSelectOptions(this.#selects.outcome, OUTCOME_OPTIONS);
  }

  get filter(): CardFilter {
    const { outcome, role, type, status } = this.#selects;
    return {
      text: this.searchInput.value,
      outcome: OUTCOME_OPTIONS.find(([value]) => value === outcome.value)?.[0] ?? "",
      role: role.value,
      type: type.value,
      status: status.value,
    };
  }

  reset(): void {
    this.element.reset();
  }

  /** Updates the form to offer the roles, card types, and statuses of the run. */
  updateSelectOptions(model: RunModel): void {
    const cards = model.samples.flatMap((sample) => sample.cards.map(({ card }) => card));
    setSelectOptions(this.#selects.role, buildSelectOptions("any role", listRolesInCards(cards)));
    setSelectOptions(
      this.#selects.type,
      buildSelectOptions("any type", new Set(cards.map((card) => card.message_type))),
    );
    setSelectOptions(
      this.#selects.status,
      buildSelectOptions(
        "any status",
        new Set(cards.flatMap((card) => findCardStatusOrErrorType(card) ?? [])),
      ),
    );
  }
}

function createSelect(name: string): HTMLSelectElement {
  return createElement("select", { name, "aria-label": `Filter by ${name}` });
}

function buildSelectOptions(
  any: string,
  values: Iterable<string>,
): (readonly [value: string, label: string])[] {
  return [["", any], ...[...values].map((value) => [value, value] as const)];
}

function setSelectOptions(
  select: HTMLSelectElement,
  choices: readonly (readonly [value: string, label: string])[],
): void {
  if (select.options.length === choices.length) return;
  const selectedValue = select.value;
  select.replaceChildren(...choices.map(([value, label]) => createElement("option", { value }, label)));
  select.value = selectedValue;
}
