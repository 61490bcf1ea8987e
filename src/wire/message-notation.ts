/**
 * Definitions of messages by message name. A definition is a list of fields, which are separated by white space. JSON
 * decoders and protobuf codecs use the same definitions.
 * - A name defines a string field. Its protobuf field number is one more than the number of the field before it, unless
 *   `name=number` sets the number. A field with the number 0 exists only in JSON.
 * - `name/other` accepts a second name in JSON, and `name>member` decodes the field to another member of the model.
 * - `:Type` sets another type, and `:Type.Schema` also sets the schema of the JSON.
 * - `[]` marks a list, and `{Type}` a map with string keys.
 * - The prefix `|` marks a member of the only oneof of the message.
 * - The suffix `+` marks a required field. The suffix `*` marks a field that requests require, and that has the empty
 *   value of its type in a response without the field. Fields with `~` always have that value if they are absent.
 * - The empty value of a field with `?` differs from an absent value. A field with `!` is like that in JSON, and has the
 *   empty value if it is absent in a protobuf message.
 * - The suffix `+` of a oneof member means that responses must have one of the members, as requests must.
 */
export type MessageDefinitions = Readonly<Record<string, string>>;

/** A field of a message definition. */
export interface MessageField {
  /** Name of the field in ProtoJSON. */
  readonly wireName: string;
  /** Second accepted name in JSON. By default, this name is `wireName` in snake case. */
  readonly alternateName: string;
  /** Name of the member in the model. */
  readonly name: string;
  /** Protobuf field number, or 0 for a field that exists only in JSON. */
  readonly number: number;
  /** Name of the protobuf type. */
  readonly type: string;
  /** Name of the schema that decodes the JSON. */
  readonly schema: string;
  readonly isOneofMember: boolean;
  readonly isList: boolean;
  readonly isMap: boolean;
  readonly suffix: "" | "?" | "!" | "*" | "+" | "~";
}

const FIELD_PATTERN =
  /^(\|?)(\w+)(?:\/(\w+))?(?:>(\w+))?(?:=(\d+))?(?::(\{?)(\w+)(?:\.(\w+))?\}?)?((?:\[\])?)([?!*+~]?)$/;

/** Parses a message definition. */
export function parseMessageDefinition(text: string): MessageField[] {
  const fields: MessageField[] = [];
  for (const field of text.split(/\s+/))
    if (field !== "") fields.push(parseField(field, (fields.at(-1)?.number ?? 0) + 1));
  return fields;
}

function parseField(text: string, nextNumber: number): MessageField {
  const match = FIELD_PATTERN.exec(text);
  if (!match) throw new Error(`${JSON.stringify(text)} is not a valid field definition.`);
  const [
    ,
    oneof,
    wireName = "",
    other,
    name = wireName,
    number,
    map,
    type = "string",
    schema = type,
    list,
    suffix,
  ] = match;
  return {
    wireName,
    alternateName: other ?? toSnakeCase(wireName),
    name,
    number: Number(number ?? nextNumber),
    type,
    schema,
    isOneofMember: oneof !== "",
    isList: list !== "",
    isMap: Boolean(map),
    suffix: suffix as MessageField["suffix"],
  };
}

/** Converts a name from camel case to snake case, which decoders accept as well. */
export function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

type UnionKeys<T> = T extends unknown ? keyof T & string : never;
type BeforeAny<Text, Marks> = Marks extends [infer Mark extends string, ...infer Rest]
  ? BeforeAny<Text extends `${infer Head}${Mark}${string}` ? Head : Text, Rest>
  : Text;
/** The name of the model's member in the notation of a field. */
type MemberName<Field> = Field extends ""
  ? never
  : Field extends `|${infer Rest}`
    ? MemberName<Rest>
    : Field extends `${string}>${infer Rest}`
      ? MemberName<Rest>
      : BeforeAny<Field, ["=", ":", "[", "/", "?", "!", "*", "+", "~"]>;
type FieldsOf<Text> = Text extends `${infer First}\n${infer Rest}`
  ? FieldsOf<First> | FieldsOf<Rest>
  : Text extends `${infer First} ${infer Rest}`
    ? First | FieldsOf<Rest>
    : Text;
type MemberNames<Text> = MemberName<FieldsOf<Text>>;
/** `unknown` if a definition names exactly the members of its type, and otherwise a type that shows the difference. */
type ExactDefinition<Type, Text> = [
  Exclude<UnionKeys<Type>, MemberNames<Text>> | Exclude<MemberNames<Text>, UnionKeys<Type>>,
] extends [never]
  ? unknown
  : {
      missing: Exclude<UnionKeys<Type>, MemberNames<Text>>;
      unknown: Exclude<MemberNames<Text>, UnionKeys<Type>>;
    };

/**
 * Returns message definitions unchanged. The compiler rejects a definition that does not name exactly the members of
 * its type. A definition of a union names the members of all variants.
 */
export function defineMessages<Types>(): <const Texts extends Record<keyof Types, string>>(
  definitions: Texts & { [Name in keyof Types]: ExactDefinition<Types[Name], Texts[Name]> },
) => Texts {
  return (definitions) => definitions;
}
