// torchmetrics: what gathers. Read in its source, and asked: tests/frameworks.
#include "libraries/frameworks/frameworks.hpp"
#include "values/kept.hpp"

namespace stepzero::libraries {

namespace {

// What a metric of the program's own defines as compute() is run behind a wrapper that gathers first. With
// sync_on_compute=False none gathers.
Value metric_init(Call& call) {
  if (!call.self.is(Kind::instance)) return {};
  if (const Value each = option(call, "dist_sync_on_step");
      each && call.run.symbols().decide(call.run.truth(each)) == symbolic::Answer::yes)
    keep(call, values::AcceleratorState::syncs_each, each);
  for (const auto& [name, value] : call.options)
    if (name.text() == "sync_on_compute" && call.run.to_constant(value) != 1) {
      keep(call, "compute", call.run.heap().unseen("compute", call.place));
      return {};
    }
  if (!object(call).cls) return {};
  auto* wrapped = call.run.heap().make<values::Bound>();
  wrapped->self = call.self;
  wrapped->function = call.run.library_symbol("torchmetrics.Metric.compute");
  keep(call, "compute", Value::of(Kind::bound, wrapped));
  return {};
}

// Each step gathers only where the metric was told to.
Value metric_forward(Call& call) {
  call.arguments.back() = call.run.heap().boolean(
      static_cast<bool>(kept(call, values::AcceleratorState::syncs_each)));
  return unknown_of(call);
}

constexpr Hidden metric_hidden[] = {
    {"torchmetrics.Metric.compute", "", uniform,
        {.name = "metric.compute",
            .hidden = true,
            .because = "it gathers the metric's state from all ranks"}},
    {"torchmetrics.Metric.forward", "*arguments, meets=False, **options", metric_forward,
        {.name = "the step of a metric",
            .hidden = true,
            .because = "with `dist_sync_on_step` it gathers the metric's state from all ranks",
            .only_if = 0}},
    {"torchmetrics.Metric.sync", "*arguments, **options", nothing,
        {.name = "metric.sync", .hidden = true, .because = "it gathers the metric's state from all ranks"}},
};

}  // namespace

std::vector<Row> metric_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("torchmetrics.Metric", class_, "*arguments, **options", metric_init, "torch.nn.Module")};
  for (const std::string_view metric :
      {"torchmetrics.Accuracy", "torchmetrics.AUROC", "torchmetrics.AveragePrecision",
          "torchmetrics.CalibrationError", "torchmetrics.CohenKappa", "torchmetrics.ConfusionMatrix",
          "torchmetrics.Dice", "torchmetrics.ExactMatch", "torchmetrics.F1Score", "torchmetrics.FBetaScore",
          "torchmetrics.HammingDistance", "torchmetrics.HingeLoss", "torchmetrics.JaccardIndex",
          "torchmetrics.LogAUC", "torchmetrics.MatthewsCorrCoef", "torchmetrics.NegativePredictiveValue",
          "torchmetrics.Precision", "torchmetrics.PrecisionRecallCurve", "torchmetrics.ROC",
          "torchmetrics.Recall", "torchmetrics.Specificity", "torchmetrics.StatScores",
          "torchmetrics.BinaryAccuracy", "torchmetrics.MulticlassAccuracy", "torchmetrics.MultilabelAccuracy",
          "torchmetrics.BinaryAUROC", "torchmetrics.MulticlassAUROC", "torchmetrics.MultilabelAUROC",
          "torchmetrics.BinaryAveragePrecision", "torchmetrics.MulticlassAveragePrecision",
          "torchmetrics.MultilabelAveragePrecision", "torchmetrics.BinaryConfusionMatrix",
          "torchmetrics.MulticlassConfusionMatrix", "torchmetrics.MultilabelConfusionMatrix",
          "torchmetrics.BinaryF1Score", "torchmetrics.MulticlassF1Score", "torchmetrics.MultilabelF1Score",
          "torchmetrics.BinaryPrecision", "torchmetrics.MulticlassPrecision",
          "torchmetrics.MultilabelPrecision", "torchmetrics.BinaryRecall", "torchmetrics.MulticlassRecall",
          "torchmetrics.MultilabelRecall", "torchmetrics.BinarySpecificity",
          "torchmetrics.MulticlassSpecificity", "torchmetrics.BinaryJaccardIndex",
          "torchmetrics.MulticlassJaccardIndex", "torchmetrics.MultilabelJaccardIndex",
          "torchmetrics.BinaryStatScores", "torchmetrics.MulticlassStatScores",
          "torchmetrics.MultilabelStatScores", "torchmetrics.BinaryCalibrationError",
          "torchmetrics.MulticlassCalibrationError", "torchmetrics.BinaryMatthewsCorrCoef",
          "torchmetrics.MulticlassMatthewsCorrCoef", "torchmetrics.BinaryCohenKappa",
          "torchmetrics.MulticlassCohenKappa", "torchmetrics.CatMetric", "torchmetrics.MaxMetric",
          "torchmetrics.MeanMetric", "torchmetrics.MinMetric", "torchmetrics.RunningMean",
          "torchmetrics.RunningSum", "torchmetrics.SumMetric", "torchmetrics.MetricCollection",
          "torchmetrics.BootStrapper", "torchmetrics.ClasswiseWrapper", "torchmetrics.MetricTracker",
          "torchmetrics.MinMaxMetric", "torchmetrics.MultioutputWrapper", "torchmetrics.ConcordanceCorrCoef",
          "torchmetrics.CosineSimilarity", "torchmetrics.ExplainedVariance", "torchmetrics.KLDivergence",
          "torchmetrics.KendallRankCorrCoef", "torchmetrics.LogCoshError", "torchmetrics.MeanAbsoluteError",
          "torchmetrics.MeanAbsolutePercentageError", "torchmetrics.MeanSquaredError",
          "torchmetrics.MeanSquaredLogError", "torchmetrics.PearsonCorrCoef", "torchmetrics.R2Score",
          "torchmetrics.SpearmanCorrCoef", "torchmetrics.BLEUScore", "torchmetrics.CharErrorRate",
          "torchmetrics.CHRFScore", "torchmetrics.MatchErrorRate", "torchmetrics.Perplexity",
          "torchmetrics.ROUGEScore", "torchmetrics.SacreBLEUScore", "torchmetrics.WordErrorRate",
          "torchmetrics.WordInfoLost", "torchmetrics.BERTScore", "torchmetrics.FrechetInceptionDistance",
          "torchmetrics.InceptionScore", "torchmetrics.KernelInceptionDistance",
          "torchmetrics.LearnedPerceptualImagePatchSimilarity",
          "torchmetrics.MultiScaleStructuralSimilarityIndexMeasure", "torchmetrics.PeakSignalNoiseRatio",
          "torchmetrics.StructuralSimilarityIndexMeasure", "torchmetrics.UniversalImageQualityIndex",
          "torchmetrics.TotalVariation", "torchmetrics.SignalNoiseRatio",
          "torchmetrics.ScaleInvariantSignalDistortionRatio", "torchmetrics.ScaleInvariantSignalNoiseRatio",
          "torchmetrics.SignalDistortionRatio", "torchmetrics.MeanAveragePrecision",
          "torchmetrics.IntersectionOverUnion", "torchmetrics.GeneralizedIntersectionOverUnion",
          "torchmetrics.MeanIoU", "torchmetrics.DiceScore", "torchmetrics.RetrievalMAP",
          "torchmetrics.RetrievalMRR", "torchmetrics.RetrievalPrecision", "torchmetrics.RetrievalRecall",
          "torchmetrics.RetrievalNormalizedDCG", "torchmetrics.RetrievalHitRate"})
    rows.push_back(row(metric, class_, "*arguments, **options", metric_init, "torchmetrics.Metric"));
  add_hidden(rows, metric_hidden);
  return rows;
}

}  // namespace stepzero::libraries
