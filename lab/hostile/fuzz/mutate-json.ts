import { encodeFuzzJson, FuzzObject, toFuzzTree } from "./encode-fuzz-json.ts";
import { HOSTILE_JSON_VALUES, HOSTILE_KEYS, HOSTILE_TEXTS } from "./hostile-values.ts";
import { drawElement, drawInteger, type RandomSource } from "./random-choice.ts";

/** A place in a tree: the parent and the position of the value in the parent. */
interface TreePlace {
  readonly parent: unknown[] | FuzzObject;
  readonly index: number;
}

/**
 * Returns the JSON text of a value after one to four mutations. Mutations know the structure of the value: they remove,
 * repeat, rename, exchange, wrap, and replace its members. One text in ten is also damaged as a text.
 */
export function mutateJson(random: RandomSource, value: unknown): string {
  const root = [toFuzzTree(value)];
  // Most texts have one mutation, because several hide each other.
  const count = 1 + Math.floor(random() ** 3 * 4);
  for (let done = 0; done < count; done++) mutateTree(random, root);
  const text = encodeFuzzJson(root[0]);
  return random() < 0.1 ? mutateText(random, text) : text;
}

function mutateTree(random: RandomSource, root: unknown[]): void {
  const places = listPlaces(root);
  const place = drawElement(random, places);
  drawElement(random, TREE_MUTATIONS)(random, place, places);
}

type TreeMutation = (random: RandomSource, place: TreePlace, places: readonly TreePlace[]) => void;

const TREE_MUTATIONS: readonly TreeMutation[] = [
  (random, place) => setValue(place, toFuzzTree(drawElement(random, HOSTILE_JSON_VALUES))),
  (random, place) => setValue(place, toFuzzTree(drawElement(random, HOSTILE_JSON_VALUES))),
  (random, place) => setValue(place, drawElement(random, HOSTILE_TEXTS)),
  (random, place) => setValue(place, drawElement(random, HOSTILE_TEXTS)),
  // Removes a value.
  (_, { parent, index }) => {
    if (parent instanceof FuzzObject) parent.members.splice(index, 1);
    else if (parent.length > 1) parent.splice(index, 1);
  },
  // Adds a member.
  (random, place) => {
    const value = getValue(place);
    const member = (): [string, unknown] => [
      drawElement(random, HOSTILE_KEYS),
      toFuzzTree(drawElement(random, HOSTILE_JSON_VALUES)),
    ];
    if (value instanceof FuzzObject) value.members.push(member());
    else setValue(place, new FuzzObject([member()]));
  },
  // Repeats a value.
  (random, { parent, index }) => {
    const copies = 1 + drawInteger(random, 20);
    for (let copy = 0; copy < copies; copy++) {
      if (parent instanceof FuzzObject) {
        const member = parent.members[index];
        if (member && copy === 0) parent.members.push([...member]);
      } else if (parent.length > 1) parent.push(parent[index]);
    }
  },
  // Renames a member.
  (random, { parent, index }) => {
    const member = parent instanceof FuzzObject ? parent.members[index] : undefined;
    if (member) member[0] = renameKey(random, member[0]);
  },
  // Replaces a value with another value of the same tree.
  (random, place, places) => setValue(place, copyTree(getValue(drawElement(random, places)))),
  // Wraps a value.
  (random, place) => {
    const depth = 1 + drawInteger(random, random() < 0.2 ? 150 : 3);
    let value = getValue(place);
    for (let level = 0; level < depth; level++)
      value = random() < 0.5 ? [value] : new FuzzObject([[drawElement(random, HOSTILE_KEYS), value]]);
    setValue(place, value);
  },
  // Converts a value to text, and text to a number.
  (_, place) => {
    const value = getValue(place);
    setValue(place, typeof value === "string" ? value.length : encodeFuzzJson(value));
  },
];

function renameKey(random: RandomSource, key: string): string {
  return drawElement(random, [
    key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    key.toUpperCase(),
    `${key} `,
    `${key}s`,
    key.slice(0, -1),
    drawElement(random, HOSTILE_KEYS),
  ]);
}

/** Damages a text: truncates it, or removes, repeats, or replaces some of its characters. */
export function mutateText(random: RandomSource, text: string): string {
  const start = drawInteger(random, text.length + 1);
  const end = Math.min(text.length, start + 1 + drawInteger(random, 8));
  return drawElement(random, [
    () => text.slice(0, start),
    () => text.slice(0, start) + text.slice(end),
    () => text.slice(0, end) + text.slice(start),
    () => text.slice(0, start) + drawElement(random, HOSTILE_TEXTS) + text.slice(end),
    () => text.slice(0, start) + String.fromCharCode(drawInteger(random, 256)) + text.slice(end),
    () => text + text,
    () => `\uFEFF${text}`,
    () => "",
  ])();
}

function listPlaces(root: unknown[]): TreePlace[] {
  const places: TreePlace[] = [];
  const visit = (parent: unknown[] | FuzzObject): void => {
    const values = parent instanceof FuzzObject ? parent.members.map(([, value]) => value) : parent;
    for (const [index, value] of values.entries()) {
      places.push({ parent, index });
      if (Array.isArray(value) || value instanceof FuzzObject) visit(value as unknown[] | FuzzObject);
    }
  };
  visit(root);
  return places;
}

function getValue({ parent, index }: TreePlace): unknown {
  return parent instanceof FuzzObject ? parent.members[index]?.[1] : parent[index];
}

function setValue({ parent, index }: TreePlace, value: unknown): void {
  if (!(parent instanceof FuzzObject)) parent[index] = value;
  else if (parent.members[index]) parent.members[index][1] = value;
}

function copyTree(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyTree);
  if (value instanceof FuzzObject)
    return new FuzzObject(value.members.map(([key, member]) => [key, copyTree(member)]));
  return value;
}
