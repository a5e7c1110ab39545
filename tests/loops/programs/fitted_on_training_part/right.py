import numpy as np
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

rows, labels = np.random.randn(120, 8), np.random.randint(0, 2, 120)
train_rows, test_rows, train_labels, test_labels = train_test_split(rows, labels, test_size=0.25)
pipeline = make_pipeline(StandardScaler(), PCA(4)).fit(train_rows)
train_features, test_features = pipeline.transform(train_rows), pipeline.transform(test_rows)
texts = ["a b c", "b c d", "c d e", "d e f"]
train_texts, test_texts = texts[:3], texts[3:]
vectorizer = CountVectorizer().fit(train_texts)
scores = vectorizer.transform(test_texts)
target_scaler = StandardScaler().fit(train_labels[:, None])
errors = target_scaler.inverse_transform(test_labels[:, None])
