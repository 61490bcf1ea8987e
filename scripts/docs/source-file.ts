import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";

export const repositoryRoot: string = fileURLToPath(new URL("../..", import.meta.url));

/** The members of a syntax tree node that are used here. */
interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

/** A named declaration or member with its docstring. */
export interface NameWithDocstring {
  readonly name: string;
  /** The source text of the type, on one line. */
  readonly type: string;
  readonly comment: string;
}

export interface Declaration extends NameWithDocstring {
  readonly kind: "type" | "function" | "class" | "value";
  /** The members of an interface or a class with the members that `Pick` adds, or the alternatives of a union. */
  readonly members: readonly NameWithDocstring[];
}

/** An exported name, which can differ from the name in the declaration. */
export interface NamedExport {
  readonly name: string;
  readonly declaration: Declaration;
}

/** The declarations of a source file. */
export class SourceFile {
  readonly #text: string;
  readonly #comments: ReturnType<typeof parseSync>["comments"];
  readonly #body: readonly SyntaxNode[];
  readonly #file: string;
  #exports: readonly NamedExport[] | undefined;

  static readonly #cache = new Map<string, SourceFile>();

  static load(file: string): SourceFile {
    const source = SourceFile.#cache.get(file) ?? new SourceFile(file);
    SourceFile.#cache.set(file, source);
    return source;
  }

  private constructor(file: string) {
    this.#file = file;
    this.#text = readFileSync(join(repositoryRoot, file), "utf8");
    const { program, comments } = parseSync(file, this.#text, { lang: "ts" });
    this.#comments = comments;
    this.#body = program.body as unknown as SyntaxNode[];
  }

  /** The comment at the start of the file. */
  get fileComment(): string {
    return this.#findCommentBefore(this.#body[0]?.start ?? 0);
  }

  findDeclaration(name: string): Declaration | undefined {
    for (const statement of this.#body) {
      const node = (statement["declaration"] as SyntaxNode | null) ?? statement;
      const found = this.#parseDeclaration(node, name);
      if (found) return { ...found, comment: this.#findCommentBefore(statement.start) };
    }
    return undefined;
  }

  /** Lists all exports. For re-exports it includes the declaration from the original file. */
  listExports(): readonly NamedExport[] {
    return (this.#exports ??= this.#collectExports());
  }

  #collectExports(): NamedExport[] {
    return this.#body.flatMap((statement) => {
      if (statement.type === "ExportAllDeclaration") {
        const space = statement["exported"] as { name: string } | null;
        const source = SourceFile.load(this.#resolveImportPath(statement));
        if (!space) return source.listExports();
        const { name } = space;
        return [
          { name, declaration: { kind: "value", name, type: "", members: [], comment: source.fileComment } },
        ];
      }
      if (statement.type !== "ExportNamedDeclaration") return [];
      const declaration = statement["declaration"] as SyntaxNode | null;
      if (declaration) return this.#listOwnExports(declaration);
      return (statement["specifiers"] as SyntaxNode[]).map((one) => {
        const local = (one["local"] as SyntaxNode)["name"] as string;
        const name = (one["exported"] as SyntaxNode)["name"] as string;
        return { name, declaration: this.#resolveReExport(statement, local) };
      });
    });
  }

  #listOwnExports(declaration: SyntaxNode): NamedExport[] {
    const nodes =
      declaration.type === "VariableDeclaration"
        ? (declaration["declarations"] as SyntaxNode[])
        : [declaration];
    return nodes.flatMap(({ id }) => {
      const { name } = id as { name: string };
      const declared = this.findDeclaration(name);
      return declared ? [{ name, declaration: declared }] : [];
    });
  }

  #resolveReExport(statement: SyntaxNode, name: string): Declaration {
    const source = SourceFile.load(this.#resolveImportPath(statement));
    const declared =
      source.findDeclaration(name) ?? source.listExports().find((one) => one.name === name)?.declaration;
    if (!declared) throw new Error(`${this.#file} exports ${name}, but its declaration was not found.`);
    return declared;
  }

  #resolveImportPath(statement: SyntaxNode): string {
    const { value } = statement["source"] as { value: string };
    return join(dirname(this.#file), value);
  }

  #parseDeclaration(node: SyntaxNode, name: string): Omit<Declaration, "comment"> | undefined {
    if (node.type === "VariableDeclaration") {
      const one = (node["declarations"] as SyntaxNode[]).find(
        ({ id }) => (id as { name?: string }).name === name,
      );
      return one && { kind: "value", name, type: "", members: [] };
    }
    if ((node["id"] as { name?: string } | null | undefined)?.name !== name) return undefined;
    const text = this.#text.slice(node.start, node.end);
    const body = node["body"] as SyntaxNode | undefined;
    if (node.type === "TSInterfaceDeclaration")
      return {
        kind: "type",
        name,
        type: text,
        members: [
          ...this.#parseMembers(body?.["body"] as SyntaxNode[]),
          ...(node["extends"] as SyntaxNode[]).flatMap((base) => this.#parsePickedMembers(base)),
        ],
      };
    if (node.type === "TSTypeAliasDeclaration")
      return {
        kind: "type",
        name,
        type: text,
        members: this.#parseTypeMembers(node["typeAnnotation"] as SyntaxNode),
      };
    if (node.type === "ClassDeclaration") return { kind: "class", name, type: `class ${name}`, members: [] };
    if (node.type === "FunctionDeclaration" || node.type === "TSDeclareFunction")
      return {
        kind: "function",
        name,
        type: formatSignature(this.#text.slice(node.start, body?.start ?? node.end)),
        members: [],
      };
    return undefined;
  }

  #parseMembers(nodes: readonly SyntaxNode[]): NameWithDocstring[] {
    return nodes.flatMap((node) => {
      const key = node["key"] as SyntaxNode | undefined;
      if (!key || this.#text.charAt(key.start) === "[") return [];
      const isMethod = node.type === "TSMethodSignature";
      const annotation = node["typeAnnotation"] as SyntaxNode | null | undefined;
      const type = isMethod
        ? this.#text.slice(key.end, node.end)
        : this.#text.slice(
            annotation ? (annotation["typeAnnotation"] as SyntaxNode).start : key.end,
            annotation?.end ?? key.end,
          );
      const name = `${this.#text.slice(key.start, key.end)}${node["optional"] === true ? "?" : ""}`;
      return [
        {
          name,
          type: formatSignature(type).replace(/^\?/, "").replace(/[;,]$/, ""),
          comment: this.#findCommentBefore(node.start),
        },
      ];
    });
  }

  #parseTypeMembers(annotation: SyntaxNode): NameWithDocstring[] {
    if (annotation.type === "TSTypeLiteral") return this.#parseMembers(annotation["members"] as SyntaxNode[]);
    if (annotation.type !== "TSUnionType") return this.#parsePickedMembers(annotation);
    return (annotation["types"] as SyntaxNode[]).map((node) => {
      const text = this.#text.slice(node.start, node.end);
      const bar = this.#text.lastIndexOf("|", node.start);
      const comment = this.#findCommentBefore(bar);
      return node.type === "TSLiteralType"
        ? { name: text.replaceAll('"', ""), type: "", comment }
        : { name: "", type: formatSignature(text), comment };
    });
  }

  /** Returns the members of `X` that `Pick<X, "a" | "b">` selects, and no members for other types. */
  #parsePickedMembers(node: SyntaxNode): NameWithDocstring[] {
    const [, source, names = ""] =
      /^Pick<\s*(\w+),([^]+)>$/.exec(this.#text.slice(node.start, node.end)) ?? [];
    const members = source === undefined ? [] : (this.#findTypeInScope(source)?.members ?? []);
    return members.filter(({ name }) => names.includes(`"${name.replace("?", "")}"`));
  }

  /** Finds a type that this file declares, or imports from another file of the repository. */
  #findTypeInScope(name: string): Declaration | undefined {
    const importStatement = this.#body.find(
      ({ type, specifiers }) =>
        type === "ImportDeclaration" &&
        (specifiers as SyntaxNode[]).some(({ local }) => (local as { name?: string }).name === name),
    );
    if (importStatement === undefined) return this.findDeclaration(name);
    const { value } = importStatement["source"] as { value: string };
    return value.startsWith(".") ? this.#resolveReExport(importStatement, name) : undefined;
  }

  /** Returns the docstring that ends immediately before a position. */
  #findCommentBefore(position: number): string {
    const before = this.#comments.findLast(
      ({ type, value, end }) =>
        type === "Block" &&
        value.startsWith("*") &&
        end <= position &&
        this.#text.slice(end, position).trim() === "",
    );
    return before ? stripCommentMarks(before.value) : "";
  }
}

function stripCommentMarks(comment: string): string {
  return comment
    .split("\n")
    .map((line) => line.replace(/^\s*\*+ ?/, "").trimEnd())
    .join("\n")
    .trim();
}

function formatSignature(text: string): string {
  return (
    text
      .replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, "")
      .replaceAll(/\s+/g, " ")
      .replaceAll(/([([{]) | (?=[)\]])/g, "$1")
      .replaceAll(/,(?= ?[)\]>])/g, "")
      // A destructured parameter is documented in the table of its type.
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
