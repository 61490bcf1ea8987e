import type { EvidenceKind } from "../../cards/index.ts";
import type { ModelReply, ModelRequest, RoleModel } from "../role-model.ts";

/** A reply of a script: its text, more of it, or an error to fail with. */
export type ScriptedModelReply = string | (Partial<ModelReply> & { readonly text: string }) | Error;

/** Replies in their order, the last one again and again; or a function of what is asked. `call` counts from 1. */
export type ModelScript =
  | readonly ScriptedModelReply[]
  | ((request: ModelRequest, call: number) => ScriptedModelReply | Promise<ScriptedModelReply>);

export interface ScriptedModelOptions {
  /** Default `createScriptedModel`. */
  readonly id?: string;
  /** Default `simulated`. */
  readonly evidenceKind?: EvidenceKind;
}

/** A model that says what its script says: for tests, for demos, and for whatever answers by a function. */
export function createScriptedModel(script: ModelScript, options: ScriptedModelOptions = {}): RoleModel {
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
