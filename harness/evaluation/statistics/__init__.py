"""Pure statistics: aligned vectors in, frozen results out; nothing here knows a retriever."""
