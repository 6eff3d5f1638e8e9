//! Facts in, verdict out: what follows from statements, without a cell.
