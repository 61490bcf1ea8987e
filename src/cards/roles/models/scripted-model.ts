import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import type { AnswerSourceKind } from "../../index.ts";
import type { ModelReply, ModelRequest, RoleModel } from "../role-model.ts";

/** A scripted reply of a model: a text, a complete reply object, or an error that the model throws. */
export type ScriptedModelReply = string | (Partial<ModelReply> & { readonly text: string }) | Error;

/**
 * A list of replies, or a function that returns a reply. When the list is exhausted, the last reply repeats.
 * `call` counts from 1.
 */
export type ModelScript =
  | readonly ScriptedModelReply[]
  | ((request: ModelRequest, call: number) => ScriptedModelReply | Promise<ScriptedModelReply>);

/** Options for `createScriptedModel`. */
export interface ScriptedModelOptions {
  /** Identifier of the scripted model. Default: `scripted`. */
  readonly id?: string;
  /** Type of evidence in recordings. The type states how the replies were produced. Default: `simulated`. */
  readonly evidenceKind?: AnswerSourceKind;
}

const assertKnownOptions = defineOptionNames<ScriptedModelOptions>()(
  "createScriptedModel",
  "evidenceKind id",
);

/** Creates a model that returns scripted replies, for example in tests and demos. */
export function createScriptedModel(script: ModelScript, options: ScriptedModelOptions = {}): RoleModel {
  assertKnownOptions(options);
  const { id = "scripted", evidenceKind = "simulated" } = options;
  let calls = 0;
  return {
    id,
    evidenceKind,
    async complete(request): Promise<ModelReply> {
      request.signal.throwIfAborted();
      const call = ++calls;
      const reply =
        typeof script === "function"
          ? await script(request, call)
          : (script[call - 1] ?? script.at(-1) ?? "");
      if (reply instanceof Error) throw reply;
      return typeof reply === "string" ? { text: reply, finish: "stop" } : { finish: "stop", ...reply };
    },
  };
}
