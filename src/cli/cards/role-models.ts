import type { AnswerSourceKind, DatasetSample } from "../../cards/index.ts";
import { openCassetteFile } from "../../cards/experiments/index.ts";
import {
  createCassetteModel,
  type FaultOptions,
  withFaults,
  createOpenAiCompatibleModel,
  type OpenAiCompatibleModelOptions,
  createOracleModel,
  type RoleModel,
} from "../../cards/roles/index.ts";
import { createUsageError } from "../cli-error.ts";

export interface RoleModelCreationOptions {
  readonly samples: readonly DatasetSample[];
  /** Names of all models of the command. */
  readonly names?: readonly string[];
  readonly faults?: FaultOptions;
  /** File that stores recorded model answers for replay. */
  readonly cassette?: string;
  readonly replay?: boolean;
  /** OpenAI-compatible server of all models that are not built in. */
  readonly server?: Pick<OpenAiCompatibleModelOptions, "baseUrl" | "apiKey" | "extraBody">;
}

/**
 * Creates the model for a role from a model name: a built-in deterministic model, or a model that ADK
 * supports.
 */
export async function createRoleModel(name: string, source: RoleModelCreationOptions): Promise<RoleModel> {
  const { cassette, replay, faults } = source;
  // The inner model is also needed for replay, because its evidence kind must be recorded: an oracle's answer
  // is not a model's answer.
  const inner = await createRoleModelWithoutCassette(name, source);
  const options = { inner, id: name, ...(replay && { mode: "replay" as const }) };
  const model = cassette === undefined ? inner : createCassetteModel(openCassetteFile(cassette), options);
  return faults ? withFaults(model, faults) : model;
}

async function createRoleModelWithoutCassette(
  name: string,
  { samples, replay, server, names = [] }: RoleModelCreationOptions,
): Promise<RoleModel> {
  if (name === "oracle") {
    const known = samples.filter((sample) => sample.dataset === "gsm8k");
    if (known.length === 0) throw createUsageError("The oracle supports only GSM8K.", "Use a real model.");
    return createOracleModel(known);
  }
  const evidence = name.startsWith("scripted:") ? "simulated" : "live-model";
  // Replaying a cassette requires neither the model's package nor an API key.
  if (replay) return createPlaceholderModelForReplay(name, evidence);
  const [, ownName, ownUrl] = /^([^@]+)@(https?:\/\/.+)$/.exec(name) ?? [];
  // The API key belongs to the server of --base-url.
  if (ownName !== undefined && ownUrl !== undefined) {
    const model = createOpenAiCompatibleModel({ model: ownName, baseUrl: ownUrl });
    // The ID of a run contains the names of its models.
    const isAmbiguous = names.some((other) => other !== name && other.replace(/@https?:.*/, "") === ownName);
    return isAmbiguous ? { ...model, id: name } : model;
  }
  if (server && evidence === "live-model")
    return createOpenAiCompatibleModel({ ...server, model: name.replace(/^openai:/, "") });
  const { redirectModelLogs, createModel, toRoleModel } = await import("../../agents/adk/models/index.ts");
  redirectModelLogs((warning) => process.emitWarning(warning));
  try {
    return toRoleModel(createModel(name), { id: name, evidenceKind: evidence });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw createUsageError(why, "Run colloquy cards run --help for the values of --model.", cause);
  }
}

function createPlaceholderModelForReplay(id: string, evidence: AnswerSourceKind): RoleModel {
  const fail = (): never => {
    throw createUsageError(`--replay requires the cassette with the answers of ${id}.`, "--cassette <file>");
  };
  return { id, evidenceKind: evidence, complete: () => Promise.resolve(fail()) };
}
