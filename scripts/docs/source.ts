import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";

export const root: string = fileURLToPath(new URL("../..", import.meta.url));

/** What is needed of a node of the syntax tree. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

/** Something that has a name, with the comment before it. */
export interface Said {
  readonly name: string;
  /** As it is written, on one line. */
  readonly type: string;
  readonly about: string;
}

export interface Declared extends Said {
  readonly kind: "type" | "function" | "class" | "value";
  /** Of an interface or a class; of a union of texts, its words. */
  readonly members: readonly Said[];
}

/** What a source file declares, by name. */
export class Source {
  readonly #text: string;
  readonly #comments: ReturnType<typeof parseSync>["comments"];
  readonly #body: readonly Node[];
  readonly #file: string;

  static readonly #known = new Map<string, Source>();

  static of(file: string): Source {
    const source = Source.#known.get(file) ?? new Source(file);
    Source.#known.set(file, source);
    return source;
  }

  private constructor(file: string) {
    this.#file = file;
    this.#text = readFileSync(join(root, file), "utf8");
    const { program, comments } = parseSync(file, this.#text, { lang: "ts" });
    this.#comments = comments;
    this.#body = program.body as unknown as Node[];
  }

  /** The comment that a file begins with. */
  get about(): string {
    return this.#aboutBefore(this.#body[0]?.start ?? 0);
  }

  declared(name: string): Declared | undefined {
    for (const statement of this.#body) {
      const node = (statement["declaration"] as Node | null) ?? statement;
      const found = this.#named(node, name);
      if (found) return { ...found, about: this.#aboutBefore(statement.start) };
    }
    return undefined;
  }

  /** The names that it exports; those of other files with the file that has them. */
  exported(): { name: string; declared: Declared }[] {
    return this.#body.flatMap((statement) => {
      if (statement.type === "ExportAllDeclaration") {
        const space = statement["exported"] as { name: string } | null;
        const source = Source.of(this.#from(statement));
        if (!space) return source.exported();
        const { name } = space;
        return [{ name, declared: { kind: "value", name, type: "", members: [], about: source.about } }];
      }
      if (statement.type !== "ExportNamedDeclaration") return [];
      const declaration = statement["declaration"] as Node | null;
      if (declaration) return this.#own(declaration);
      return (statement["specifiers"] as Node[]).map((one) => {
        const local = (one["local"] as Node)["name"] as string;
        const name = (one["exported"] as Node)["name"] as string;
        return { name, declared: this.#found(statement, local) };
      });
    });
  }

  #own(declaration: Node): { name: string; declared: Declared }[] {
    const nodes =
      declaration.type === "VariableDeclaration" ? (declaration["declarations"] as Node[]) : [declaration];
    return nodes.flatMap(({ id }) => {
      const { name } = id as { name: string };
      const declared = this.declared(name);
      return declared ? [{ name, declared }] : [];
    });
  }

  #found(statement: Node, name: string): Declared {
    const source = Source.of(this.#from(statement));
    const declared = source.declared(name) ?? source.exported().find((one) => one.name === name)?.declared;
    if (!declared) throw new Error(`${this.#file} exports ${name}, which is not found.`);
    return declared;
  }

  #from(statement: Node): string {
    const { value } = statement["source"] as { value: string };
    return join(dirname(this.#file), value);
  }

  #named(node: Node, name: string): Omit<Declared, "about"> | undefined {
    if (node.type === "VariableDeclaration") {
      const one = (node["declarations"] as Node[]).find(({ id }) => (id as { name?: string }).name === name);
      return one && { kind: "value", name, type: "", members: [] };
    }
    if ((node["id"] as { name?: string } | null | undefined)?.name !== name) return undefined;
    const text = this.#text.slice(node.start, node.end);
    const body = node["body"] as Node | undefined;
    if (node.type === "TSInterfaceDeclaration")
      return { kind: "type", name, type: text, members: this.#members(body?.["body"] as Node[]) };
    if (node.type === "TSTypeAliasDeclaration")
      return { kind: "type", name, type: text, members: this.#words(node["typeAnnotation"] as Node) };
    if (node.type === "ClassDeclaration") return { kind: "class", name, type: `class ${name}`, members: [] };
    if (node.type === "FunctionDeclaration" || node.type === "TSDeclareFunction")
      return {
        kind: "function",
        name,
        type: oneLine(this.#text.slice(node.start, body?.start ?? node.end)),
        members: [],
      };
    return undefined;
  }

  #members(nodes: readonly Node[]): Said[] {
    return nodes.flatMap((node) => {
      const key = node["key"] as Node | undefined;
      if (!key || this.#text.charAt(key.start) === "[") return [];
      const isMethod = node.type === "TSMethodSignature";
      const annotation = node["typeAnnotation"] as Node | null | undefined;
      const type = isMethod
        ? this.#text.slice(key.end, node.end)
        : this.#text.slice(
            annotation ? (annotation["typeAnnotation"] as Node).start : key.end,
            annotation?.end ?? key.end,
          );
      const name = `${this.#text.slice(key.start, key.end)}${node["optional"] === true ? "?" : ""}`;
      return [
        {
          name,
          type: oneLine(type).replace(/^\?/, "").replace(/[;,]$/, ""),
          about: this.#aboutBefore(node.start),
        },
      ];
    });
  }

  #words(annotation: Node): Said[] {
    if (annotation.type === "TSTypeLiteral") return this.#members(annotation["members"] as Node[]);
    if (annotation.type !== "TSUnionType") return [];
    return (annotation["types"] as Node[]).map((node) => {
      const name = this.#text.slice(node.start, node.end).replaceAll('"', "");
      const bar = this.#text.lastIndexOf("|", node.start);
      return { name, type: "", about: this.#aboutBefore(bar) };
    });
  }

  /** The documenting comment that ends right before a place. */
  #aboutBefore(place: number): string {
    const before = this.#comments.findLast(
      ({ type, value, end }) =>
        type === "Block" &&
        value.startsWith("*") &&
        end <= place &&
        this.#text.slice(end, place).trim() === "",
    );
    return before ? plain(before.value) : "";
  }
}

function plain(comment: string): string {
  return comment
    .split("\n")
    .map((line) => line.replace(/^\s*\*+ ?/, "").trimEnd())
    .join("\n")
    .trim();
}

function oneLine(text: string): string {
  return (
    text
      .replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, "")
      .replaceAll(/\s+/g, " ")
      .replaceAll(/([([{]) | (?=[)\]])/g, "$1")
      .replaceAll(/,(?= ?[)\]>])/g, "")
      // A parameter that is taken apart has its names in the table of its type.
      .replaceAll(
        /\{[^{}]*\}: (\w+)( = \{\s*\})?/g,
        (_, type: string, absent?: string) => `options${absent ? "?" : ""}: ${type}`,
      )
      .replaceAll(/\{(?=\w)/g, "{ ")
      .replace(/^export (?:async )?/, "")
      .replace(/^(?:async )?function /, "")
      .trim()
  );
}
