import { type EvidenceKind, GSM8K_ANSWER_MODELS, type DatasetSample } from "../../cards/index.ts";
import { openCassetteFile, readRecordedAnswers } from "../../experiments/index.ts";
import {
  createCassetteModel,
  type FaultOptions,
  withFaults,
  createHotpotHeuristicModel,
  createOracleModel,
  createRecordedModel,
  type RoleModel,
} from "../../roles/index.ts";
import { createUsageError } from "../cli-error.ts";

export interface RoleModelOptions {
  readonly samples: readonly DatasetSample[];
  /** The folder of the data, which recorded answers come from. */
  readonly data: string | undefined;
  readonly faults?: FaultOptions;
  /** A file that answers are kept in, and taken from. */
  readonly cassette?: string;
  readonly replay?: boolean;
}

/** The model of a name: one of those that are none, or any that an ADK agent may have. */
export async function createRoleModel(name: string, source: RoleModelOptions): Promise<RoleModel> {
  const bare = await createBareModel(name, source);
  const heard = source.cassette === undefined ? bare : withCassette(bare, name, source);
  return source.faults ? withFaults(heard, source.faults) : heard;
}

async function createBareModel(
  name: string,
  { samples, data, replay }: RoleModelOptions,
): Promise<RoleModel> {
  if (name === "oracle") {
    const known = samples.filter((sample) => sample.dataset === "gsm8k");
    if (known.length === 0)
      throw createUsageError("The oracle knows GSM8K alone.",
        "--model heuristic, or a real one",
      );
    return createOracleModel(known);
  }
  if (name === "heuristic") return createHotpotHeuristicModel();
  if (name === "heuristic:one-hop") return createHotpotHeuristicModel({ secondHopSource: "nothing" });
  if (name === "heuristic:paragraph") return createHotpotHeuristicModel({ secondHopSource: "paragraph" });
  if (name.startsWith("recorded:")) {
    const wanted = name.slice("recorded:".length);
    const found = GSM8K_ANSWER_MODELS.find((one) => one === wanted);
    if (!found)
      throw createUsageError(`There are no recorded answers of ${wanted}.`,
        `--model recorded:${GSM8K_ANSWER_MODELS.join(" | recorded:")}`,
      );
    return createRecordedModel(readRecordedAnswers(data), found);
  }
  const evidence = name.startsWith("scripted:") ? "simulated" : "live-model";
  // A cassette that is only replayed needs neither the model's package nor a key.
  if (replay) return createUnrecordedModel(name, evidence);
  const {
    redirectModelLogs: hushModels,
    createModel: model,
    toRoleModel: roleModel,
  } = await import("../../adk/models/index.ts");
  hushModels((warning) => process.emitWarning(warning));
  try {
    return roleModel(model(name), { id: name, evidenceKind: evidence });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw createUsageError(why, "colloquy cards run --help says what --model takes.", cause);
  }
}

function withCassette(
  inner: RoleModel,
  id: string,
  { cassette: file = "", replay = false }: RoleModelOptions,
): RoleModel {
  // The model goes with it in a replay, too: what an oracle has said is no model's answer.
  return createCassetteModel(openCassetteFile(file), { inner, id, ...(replay && { mode: "replay" }) });
}

function createUnrecordedModel(id: string, evidence: EvidenceKind): RoleModel {
  const fail = (): never => {
    throw createUsageError(`--replay needs the cassette that ${id} was recorded on.`,
      "--cassette <file>",
    );
  };
  return { id, evidenceKind: evidence, complete: () => Promise.resolve(fail()) };
}
