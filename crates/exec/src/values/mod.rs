//! What happens to a value on its way: conversion between element types, and what leaves an accumulator.

pub mod convert;
pub mod fixpipe;
pub mod quant;
