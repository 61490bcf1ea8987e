/** A problem from the GSM8K dataset. */
export interface Gsm8kSample {
  readonly dataset: "gsm8k";
  /** Problem ID, which is `gsm8k_` followed by the position in the dataset split, starting at 0. */
  readonly id: string;
  readonly question: string;
  /** Correct answer as written after `####` in the GSM8K file, for example `18` or `1,200`. */
  readonly gold: string;
  /**
   * Human-written solution to the problem. The last line of the original, which contains the answer, is
   * removed.
   */
  readonly solution: string;
  /**
   * Steps of the human-written solution. The steps are available only if the Socratic file of GSM8K was read.
   */
  readonly steps: readonly Gsm8kStep[];
}

/** A step of a human-written GSM8K solution. */
export interface Gsm8kStep {
  readonly question: string;
  /**
   * Answer to the step's sub-question, written as text. The step's answer may contain calculator annotations
   * such as `<<16-3-4=9>>`.
   */
  readonly text: string;
}

/** A problem from the distractor setting of HotpotQA. */
export interface HotpotQaSample {
  readonly dataset: "hotpotqa";
  /**
   * Problem ID, which is `hotpotqa_` followed by the record's `dev_index`. If the record has no `dev_index`,
   * the ID contains `_id`, or else the record's position in the file.
   */
  readonly id: string;
  readonly question: string;
  readonly gold: string;
  /** Paragraphs of the problem. Two paragraphs are needed for the answer, and all others are distractors. */
  readonly paragraphs: readonly Paragraph[];
}

/** A paragraph in a HotpotQA problem. */
export interface Paragraph {
  readonly title: string;
  readonly sentences: readonly string[];
}

/** A problem from a file of your own. */
export interface QuestionSample {
  readonly dataset: "questions";
  readonly id: string;
  readonly question: string;
  /** Correct answer. */
  readonly gold: string;
  /** Source documents of the problem, if any. */
  readonly paragraphs: readonly Paragraph[];
}

/** A problem from the GSM8K dataset, from the HotpotQA dataset, or from another file. */
export type DatasetSample = Gsm8kSample | HotpotQaSample | QuestionSample;
